// SPDX-License-Identifier: Apache-2.0
// A cell that claims to be Sync and is not: read and written through UnsafeCell by all.
#[path = "../harness.rs"]
mod harness;

use std::cell::UnsafeCell;
use std::sync::Arc;

struct Gauge {
    level: UnsafeCell<i32>,
}

unsafe impl Sync for Gauge {}

impl Gauge {
    #[inline(never)]
    fn set(&self, level: i32) {
        unsafe { *self.level.get() = level }; // RACE a
    }

    #[inline(never)]
    fn get(&self) -> i32 {
        unsafe { *self.level.get() } // RACE a
    }
}

fn main() {
    let gauge = Arc::new(Gauge { level: UnsafeCell::new(0) });
    let workers: Vec<_> = (0..harness::threads(3))
        .map(|index| {
            let gauge = gauge.clone();
            std::thread::spawn(move || {
                let mut turn = 0;
                while harness::running() {
                    if index == 0 {
                        gauge.set(turn as i32);
                    } else if gauge.get() == -1 {
                        harness::work(1);
                    }
                    harness::pace_warm(&mut turn);
                }
            })
        })
        .collect();
    harness::finish();
    for worker in workers {
        worker.join().unwrap();
    }
}
