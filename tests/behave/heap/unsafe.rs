// SPDX-License-Identifier: Apache-2.0
// Errors that Rust's `unsafe` makes possible: one a case.
use std::alloc::{alloc, dealloc, Layout};
use std::hint::black_box;
use std::ptr::{read_volatile, write_volatile};

#[inline(never)]
fn make_vector(length: usize) -> Vec<u8> {
    black_box(vec![7u8; black_box(length)])
}

#[inline(never)]
fn drop_vector(vector: Vec<u8>) {
    drop(black_box(vector));
    black_box(());
}

#[inline(never)]
unsafe fn peek(at: *const u8) -> u8 {
    black_box(read_volatile(at))
}

#[inline(never)]
unsafe fn poke(at: *mut u8) {
    write_volatile(at, 1);
    black_box(at);
}

fn read_dropped_vector() {
    let vector = make_vector(96);
    let inside = black_box(vector.as_ptr()).wrapping_add(48);
    drop_vector(vector);
    unsafe { peek(black_box(inside)) };
}

fn write_past_vector() {
    let mut vector = make_vector(35);
    unsafe { poke(black_box(vector.as_mut_ptr()).wrapping_add(35)) };
    drop_vector(vector);
}

fn read_past_vector() {
    let vector = make_vector(500);
    unsafe { peek(black_box(vector.as_ptr()).wrapping_add(501)) };
    drop_vector(vector);
}

#[inline(never)]
unsafe fn allocate_raw(layout: Layout) -> *mut u8 {
    black_box(alloc(black_box(layout)))
}

#[inline(never)]
unsafe fn free_raw(block: *mut u8, layout: Layout) {
    dealloc(block, layout);
    black_box(());
}

#[inline(never)]
unsafe fn free_again(block: *mut u8, layout: Layout) {
    dealloc(block, layout);
    black_box(2);
}

// Bare, the second free is of the block that took the first one's place.
fn double_dealloc() {
    let layout = Layout::from_size_align(104, 8).unwrap();
    unsafe {
        let block = allocate_raw(layout);
        free_raw(black_box(block), layout);
        let other = black_box(alloc(layout));
        std::ptr::write_bytes(other, 1, 104);
        free_again(black_box(block), layout);
    }
}

fn main() {
    let case = std::env::args().nth(1).unwrap_or_default();
    match case.as_str() {
        "read_dropped_vector" => read_dropped_vector(),
        "write_past_vector" => write_past_vector(),
        "read_past_vector" => read_past_vector(),
        "double_dealloc" => double_dealloc(),
        _ => {
            eprintln!("usage: unsafe CASE; the manifest names them");
            std::process::exit(2);
        }
    }
    println!("{case}: done");
}
