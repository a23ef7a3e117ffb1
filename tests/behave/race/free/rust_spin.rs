// SPDX-License-Identifier: Apache-2.0
// A spinlock and a publication flag of one's own, as crates write them: UnsafeCell plus atomics.
#[path = "../harness.rs"]
mod harness;

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;

struct Spin<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

unsafe impl<T: Send> Sync for Spin<T> {}

impl<T> Spin<T> {
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        while self
            .taken
            .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            harness::nap(50);
        }
        let result = f(unsafe { &mut *self.value.get() });
        self.taken.store(false, Ordering::Release);
        result
    }
}

struct Ring {
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: [UnsafeCell<u64>; 32],
}

unsafe impl Sync for Ring {}

impl Ring {
    fn push(&self, value: u64) {
        let head = self.head.load(Ordering::Relaxed);
        if head - self.tail.load(Ordering::Acquire) < 32 {
            unsafe { *self.slots[head % 32].get() = value };
            self.head.store(head + 1, Ordering::Release);
        }
    }

    fn pop(&self) -> Option<u64> {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail == self.head.load(Ordering::Acquire) {
            return None;
        }
        let value = unsafe { *self.slots[tail % 32].get() };
        self.tail.store(tail + 1, Ordering::Release);
        Some(value)
    }
}

fn main() {
    let spin = Arc::new(Spin { taken: AtomicBool::new(false), value: UnsafeCell::new([0u64; 4]) });
    let ring = Arc::new(Ring {
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
        slots: std::array::from_fn(|_| UnsafeCell::new(0)),
    });
    let workers: Vec<_> = (0..harness::threads(4))
        .map(|index| {
            let (spin, ring) = (spin.clone(), ring.clone());
            std::thread::spawn(move || {
                let mut turn = 0;
                while harness::running() {
                    spin.with(|cells| cells[turn as usize % 4] += 1);
                    match index {
                        0 => ring.push(turn as u64),
                        1 => drop(ring.pop()),
                        _ => {}
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
