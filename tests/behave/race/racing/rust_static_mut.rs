// SPDX-License-Identifier: Apache-2.0
// A `static mut` counter bumped by every thread in an unsafe block.
#[path = "../harness.rs"]
mod harness;

static mut COUNTER: u64 = 0;

fn main() {
    let workers: Vec<_> = (0..harness::threads(4))
        .map(|_| {
            std::thread::spawn(|| {
                let mut turn = 0;
                while harness::running() {
                    unsafe { COUNTER += 1 }; // RACE a
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
