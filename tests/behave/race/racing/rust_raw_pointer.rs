// SPDX-License-Identifier: Apache-2.0
// A heap block handed to several threads as a raw pointer.
#[path = "../harness.rs"]
mod harness;

struct Totals {
    orders: u32,
    revenue: f64,
}

#[derive(Clone, Copy)]
struct Handle(*mut Totals);

unsafe impl Send for Handle {}

impl Handle {
    #[inline(never)]
    fn record(self, amount: f64) {
        let totals = self.0;
        unsafe {
            (*totals).orders += 1; // RACE a
            (*totals).revenue += amount; // RACE b
        }
    }
}

fn main() {
    let handle = Handle(Box::into_raw(Box::new(Totals { orders: 0, revenue: 0.0 })));
    let workers: Vec<_> = (0..harness::threads(4))
        .map(|index| {
            std::thread::spawn(move || {
                let mut turn = 0;
                while harness::running() {
                    handle.record(index as f64);
                    harness::pace_warm(&mut turn);
                }
            })
        })
        .collect();
    harness::finish();
    for worker in workers {
        worker.join().unwrap();
    }
    drop(unsafe { Box::from_raw(handle.0) });
}
