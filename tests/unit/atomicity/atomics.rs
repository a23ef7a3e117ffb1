// SPDX-License-Identifier: Apache-2.0
// As atomics.c.
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

static mut COUNTER: i32 = 0;
static TOTAL: AtomicUsize = AtomicUsize::new(0);

struct Item {
    value: i32,
    references: AtomicI32,
}

#[inline(never)]
fn plain_accesses(item: &mut Item, n: i32) -> i32 {
    unsafe {
        COUNTER = n; /* plain: */
    }
    item.value = n; /* plain: */
    unsafe { COUNTER }
}

#[inline(never)]
fn atomics(item: &Item, n: i32) -> i32 {
    let sum = item.references.load(Ordering::Relaxed); /* atomic: */
    item.references.store(n, Ordering::Relaxed); /* atomic: */
    TOTAL.store(n as usize, Ordering::Release); /* atomic: */
    sum + TOTAL.load(Ordering::Relaxed) as i32 /* atomic: */
}

fn main() {
    let mut item = Item { value: 1, references: AtomicI32::new(2) };
    let n = std::env::args().count() as i32;
    std::process::exit(plain_accesses(&mut item, n) + atomics(&item, n) + item.value);
}
