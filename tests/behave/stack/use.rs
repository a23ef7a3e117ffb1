// SPDX-License-Identifier: Apache-2.0
//! Uses of frames that are gone, in Rust: see cases.h.
use std::ptr::{addr_of_mut, read_volatile};
use std::time::{Duration, Instant};

static mut KEPT: *const u64 = std::ptr::null();

#[inline(never)]
fn keep(value: *const u64) {
    unsafe { *addr_of_mut!(KEPT) = value }
}

#[inline(never)]
fn leave_kept(number: u64) -> u64 {
    let local = [number, number + 1, number + 2, number + 3];
    keep(&local[1]);
    std::hint::black_box(&local);
    local[(number % 4) as usize]
}

#[inline(never)]
fn touch_kept() -> u64 {
    unsafe { read_volatile(*addr_of_mut!(KEPT)) }
}

struct Boxed {
    name: &'static str,
    value: *mut u64,
}

#[inline(never)]
fn leave_boxed(boxed: &mut Boxed, number: u64) -> u64 {
    let mut local = number;
    boxed.value = &mut local;
    std::hint::black_box(&mut local);
    local
}

#[inline(never)]
fn touch_boxed(boxed: &Boxed) -> usize {
    unsafe { *boxed.value += 1 }
    boxed.name.len()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let seconds: f64 = arguments.get(2).map_or(10.0, |text| text.parse().unwrap());
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut boxed = Box::new(Boxed { name: "boxed", value: std::ptr::null_mut() });
    let mut sum = 0u64;
    let mut turn = 0u64;
    while Instant::now() < end {
        turn += 1;
        match arguments[1].as_str() {
            "kept_rare" => sum = sum.wrapping_add(leave_kept(turn)),
            "boxed_rare" => sum = sum.wrapping_add(leave_boxed(&mut boxed, turn)),
            _ => std::process::exit(2),
        }
        std::thread::sleep(Duration::from_millis(1));
        if turn % 8 == 0 {
            sum = sum.wrapping_add(if arguments[1] == "kept_rare" {
                touch_kept()
            } else {
                touch_boxed(&boxed) as u64
            });
        }
    }
    std::hint::black_box(sum);
}
