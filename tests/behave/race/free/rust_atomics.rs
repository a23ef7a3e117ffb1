// SPDX-License-Identifier: Apache-2.0
// Rust atomics, relaxed, acquire and release, on statics and inside an Arc.
#[path = "../harness.rs"]
mod harness;

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicU8, Ordering};
use std::sync::Arc;

static TICKS: AtomicU64 = AtomicU64::new(0);
static MODE: AtomicU8 = AtomicU8::new(0);

struct Shared {
    level: AtomicU64,
    urgent: AtomicBool,
    name: AtomicPtr<u8>,
}

#[inline(never)]
fn change(shared: &Shared, turn: u32) {
    TICKS.store(TICKS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    MODE.store(turn as u8, Ordering::Release);
    shared.level.store(turn as u64, Ordering::Relaxed);
    shared.urgent.store(turn & 1 == 1, Ordering::Relaxed);
    shared.name.store(shared as *const Shared as *mut u8, Ordering::Release);
}

#[inline(never)]
fn look(shared: &Shared) -> u64 {
    TICKS.load(Ordering::Relaxed)
        + MODE.load(Ordering::Acquire) as u64
        + shared.level.load(Ordering::Relaxed)
        + shared.urgent.load(Ordering::Relaxed) as u64
        + shared.name.load(Ordering::Acquire) as u64
}

fn main() {
    let shared = Arc::new(Shared {
        level: AtomicU64::new(0),
        urgent: AtomicBool::new(false),
        name: AtomicPtr::new(std::ptr::null_mut()),
    });
    let workers: Vec<_> = (0..harness::threads(4))
        .map(|index| {
            let shared = shared.clone();
            std::thread::spawn(move || {
                let mut turn = 0;
                while harness::running() {
                    if index % 2 == 0 {
                        change(&shared, turn);
                    } else if look(&shared) == 1 {
                        harness::work(1);
                    }
                    harness::pace_hot(&mut turn);
                }
            })
        })
        .collect();
    harness::finish();
    for worker in workers {
        worker.join().unwrap();
    }
}
