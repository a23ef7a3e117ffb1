// SPDX-License-Identifier: Apache-2.0
// What every Rust program here shares: a time bound, a thread count, naps.  Itself free of races.
// Usage of each program: PROGRAM [SECONDS [THREADS]].

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static STOP: AtomicBool = AtomicBool::new(false);

pub fn running() -> bool {
    !STOP.load(Ordering::Relaxed)
}

#[allow(dead_code)]
pub fn nap(microseconds: u64) {
    std::thread::sleep(Duration::from_micros(microseconds));
}

/// Burns about one nanosecond of CPU time per round.
#[allow(dead_code)]
#[inline(never)]
pub fn work(rounds: u32) {
    let mut i = 0;
    while i < rounds {
        unsafe { std::arch::asm!("/* {0:e} */", inout(reg) i, options(nomem, nostack)) };
        i += 1;
    }
}

/// About a quarter of a CPU; `turn` is the caller's own.
#[allow(dead_code)]
pub fn pace_hot(turn: &mut u32) {
    work(300);
    *turn += 1;
    if *turn % 1024 == 0 {
        nap(1000);
    }
}

/// About 2 % of a CPU.
#[allow(dead_code)]
pub fn pace_warm(turn: &mut u32) {
    work(2000);
    *turn += 1;
    if *turn % 16 == 0 {
        nap(1500);
    }
}

/// The number of threads asked for.
pub fn threads(default: usize) -> usize {
    std::env::args().nth(2).and_then(|a| a.parse().ok()).unwrap_or(default)
}

/// Sleeps for SECONDS and tells every thread to stop; the caller joins them.
pub fn finish() {
    let seconds = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(10.0);
    std::thread::sleep(Duration::from_secs_f64(seconds));
    STOP.store(true, Ordering::Relaxed);
}
