// SPDX-License-Identifier: Apache-2.0
// A value is changed under its Mutex but read through a pointer kept from an earlier lock.
#[path = "../harness.rs"]
mod harness;

use std::sync::{Arc, Mutex};

struct Peek(*const u64);

unsafe impl Send for Peek {}

impl Peek {
    #[inline(never)]
    fn look(&self) -> u64 {
        unsafe { self.0.read_volatile() } // RACE a
    }
}

#[inline(never)]
fn advance(shared: &Mutex<u64>) {
    let mut guard = shared.lock().unwrap();
    *guard += 1; // RACE a
}

fn main() {
    let shared = Arc::new(Mutex::new(0u64));
    let guard = shared.lock().unwrap();
    let peek = Peek(&*guard);
    drop(guard);
    let mut workers = Vec::new();
    for _ in 1..harness::threads(3) {
        let shared = shared.clone();
        workers.push(std::thread::spawn(move || {
            let mut turn = 0;
            while harness::running() {
                advance(&shared);
                harness::pace_warm(&mut turn);
            }
        }));
    }
    workers.push(std::thread::spawn(move || {
        let mut turn = 0;
        while harness::running() {
            if peek.look() == u64::MAX {
                harness::work(1);
            }
            harness::pace_warm(&mut turn);
        }
    }));
    harness::finish();
    for worker in workers {
        worker.join().unwrap();
    }
}
