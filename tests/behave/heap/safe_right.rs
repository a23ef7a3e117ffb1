// SPDX-License-Identifier: Apache-2.0
// Correct Rust programs that allocate a lot: one a case.
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{mpsc, Arc};
use std::thread;

fn collections() {
    let mut table = HashMap::new();
    let mut tree = BTreeMap::new();
    let mut queue = VecDeque::new();
    for i in 0..5000u32 {
        *table.entry(format!("key {}", i % 300)).or_insert(0) += i;
        tree.insert(i % 777, vec![i; (i % 50) as usize]);
        queue.push_back(i.to_string());
        if queue.len() > 64 {
            queue.pop_front();
        }
    }
    assert_eq!((table.len(), tree.len(), queue.len()), (300, 777, 64));
}

fn channels() {
    let (sender, receiver) = mpsc::channel::<Arc<Vec<u8>>>();
    let workers: Vec<_> = (0..4u8)
        .map(|worker| {
            let sender = sender.clone();
            thread::spawn(move || {
                for i in 0..500usize {
                    sender.send(Arc::new(vec![worker; i])).unwrap();
                }
            })
        })
        .collect();
    drop(sender);
    let bytes: usize = receiver.iter().map(|block| block.len()).sum();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(bytes, 4 * 499 * 500 / 2);
}

fn main() {
    let case = std::env::args().nth(1).unwrap_or_default();
    match case.as_str() {
        "collections" => collections(),
        "channels" => channels(),
        _ => std::process::exit(2),
    }
    println!("{case}: done");
}
