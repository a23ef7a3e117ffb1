// SPDX-License-Identifier: Apache-2.0
// Threads, channels, panics that unwind and are caught, scoped borrowing, processes, sockets.
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{atomic::{AtomicU64, Ordering}, mpsc, Arc, Barrier, Condvar, Mutex, RwLock};
use std::thread;

fn main() {
    let total = Arc::new(AtomicU64::new(0));
    let map = Arc::new(RwLock::new(HashMap::new()));
    let (send, receive) = mpsc::channel();
    let barrier = Arc::new(Barrier::new(8));
    let workers: Vec<_> = (0..8u64).map(|n| {
        let (total, map, send, barrier) = (total.clone(), map.clone(), send.clone(), barrier.clone());
        thread::spawn(move || {
            barrier.wait();
            for i in 0..50_000u64 {
                total.fetch_add(i, Ordering::Relaxed);
                if i % 1000 == 0 {
                    *map.write().unwrap().entry(i / 1000).or_insert(0) += n;
                    send.send(n).unwrap();
                }
            }
        })
    }).collect();
    drop(send);
    let received: u64 = receive.iter().sum();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    println!("total {} received {} map {}", total.load(Ordering::SeqCst), received, map.read().unwrap().values().sum::<u64>());

    std::panic::set_hook(Box::new(|_| {}));
    let caught = (0..200).filter(|i| thread::spawn({ let i = *i; move || assert!(i % 2 == 0) }).join().is_err()).count();
    println!("panics {}", caught);

    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    let other = pair.clone();
    let turn = thread::spawn(move || for i in 0..2000 {
        let mut value = other.0.lock().unwrap();
        while *value % 2 == 0 { value = other.1.wait(value).unwrap(); }
        *value += 1;
        other.1.notify_one();
        assert!(*value <= 2 * (i + 1));
    });
    for _ in 0..2000 {
        let mut value = pair.0.lock().unwrap();
        while *value % 2 == 1 { value = pair.1.wait(value).unwrap(); }
        *value += 1;
        pair.1.notify_one();
    }
    turn.join().unwrap();
    println!("turns {}", pair.0.lock().unwrap());

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || for stream in listener.incoming().take(50) {
        let mut stream = stream.unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        stream.write_all(&[byte[0].wrapping_mul(3)]).unwrap();
    });
    let right = (0..50u8).filter(|i| {
        let mut stream = TcpStream::connect(address).unwrap();
        let mut byte = [0];
        stream.write_all(&[*i]).unwrap();
        stream.read_exact(&mut byte).unwrap();
        byte[0] == i.wrapping_mul(3)
    }).count();
    server.join().unwrap();
    println!("sockets {}", right);

    let output = Command::new("sh").args(["-c", "echo child; exit 3"]).output().unwrap();
    println!("process {:?} {}", output.status.code(), String::from_utf8_lossy(&output.stdout).trim());
    println!("environment {}", std::env::vars().filter(|(name, _)| name.contains("PRELOAD") || name.contains("TRAPLINE")).count());
}
