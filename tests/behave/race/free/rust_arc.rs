// SPDX-License-Identifier: Apache-2.0
// Arcs cloned and dropped by all, a Once, thread-locals and scoped threads over a split slice.
#[path = "../harness.rs"]
mod harness;

use std::cell::Cell;
use std::sync::{Arc, Mutex, Once};

static START: Once = Once::new();
static SLOT: Mutex<Option<Arc<Vec<u32>>>> = Mutex::new(None);

thread_local! {
    static OWN: Cell<u64> = Cell::new(0);
}

fn split_work() {
    let mut cells = vec![0u32; 64];
    std::thread::scope(|scope| {
        for part in cells.chunks_mut(32) {
            scope.spawn(move || part.iter_mut().for_each(|cell| *cell += 1));
        }
    });
    assert_eq!(cells.iter().sum::<u32>(), 64);
}

fn main() {
    let workers: Vec<_> = (0..harness::threads(4))
        .map(|index| {
            std::thread::spawn(move || {
                let mut turn = 0;
                while harness::running() {
                    START.call_once(|| *SLOT.lock().unwrap() = Some(Arc::new(vec![1; 10])));
                    let seen = SLOT.lock().unwrap().clone().unwrap();
                    OWN.with(|own| own.set(own.get() + seen[3] as u64));
                    if turn % 50 == 0 {
                        *SLOT.lock().unwrap() = Some(Arc::new(vec![index as u32; 10]));
                    }
                    if index == 0 && turn % 200 == 0 {
                        split_work();
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
