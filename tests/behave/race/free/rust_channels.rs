// SPDX-License-Identifier: Apache-2.0
// Boxes and vectors sent through channels: each belongs to one thread at a time.
#[path = "../harness.rs"]
mod harness;

use std::sync::mpsc;

fn main() {
    let (send, receive) = mpsc::channel::<Box<[u64; 32]>>();
    let (send_back, receive_back) = mpsc::sync_channel::<Vec<u8>>(4);
    let mut workers = Vec::new();
    for index in 1..harness::threads(4) {
        let send = send.clone();
        workers.push(std::thread::spawn(move || {
            let mut turn = 0;
            while harness::running() {
                let mut message = Box::new([index as u64; 32]);
                message[3] = turn as u64;
                send.send(message).unwrap();
                harness::pace_warm(&mut turn);
            }
        }));
    }
    drop(send);
    workers.push(std::thread::spawn(move || {
        while let Ok(mut message) = receive.recv() {
            message[5] += message[3];
            let _ = send_back.try_send(vec![message[5] as u8; 100]);
        }
    }));
    workers.push(std::thread::spawn(move || {
        while let Ok(mut bytes) = receive_back.recv() {
            bytes[7] = 1;
        }
    }));
    harness::finish();
    for worker in workers {
        worker.join().unwrap();
    }
}
