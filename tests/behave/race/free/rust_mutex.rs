// SPDX-License-Identifier: Apache-2.0
// Mutex, RwLock and Condvar of the standard library, which are futexes by hand.
#[path = "../harness.rs"]
mod harness;

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::time::Duration;

struct Shared {
    counts: Mutex<HashMap<u32, u64>>,
    names: RwLock<Vec<String>>,
    turn: Mutex<usize>,
    changed: Condvar,
}

fn main() {
    let shared = Arc::new(Shared {
        counts: Mutex::new(HashMap::new()),
        names: RwLock::new(vec!["first".to_string()]),
        turn: Mutex::new(0),
        changed: Condvar::new(),
    });
    let workers: Vec<_> = (0..harness::threads(4))
        .map(|index| {
            let shared = shared.clone();
            std::thread::spawn(move || {
                let mut turn = 0;
                while harness::running() {
                    *shared.counts.lock().unwrap().entry(turn % 7).or_insert(0) += 1;
                    if turn % 64 == 0 {
                        shared.names.write().unwrap()[0] = format!("{} {}", index, turn);
                    } else if shared.names.read().unwrap()[0].is_empty() {
                        harness::work(1);
                    }
                    let mut whose = shared.turn.lock().unwrap();
                    if *whose % 4 != index {
                        whose = shared
                            .changed
                            .wait_timeout(whose, Duration::from_micros(200))
                            .unwrap()
                            .0;
                    }
                    *whose += 1;
                    drop(whose);
                    shared.changed.notify_all();
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
