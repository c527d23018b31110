// verdict: none
// what is set before any thread is made may be read by all
use std::thread;

static mut LIMIT: usize = 0;

fn main() {
    unsafe { LIMIT = 5 + std::env::args().count() };
    let workers: Vec<_> = (0..3)
        .map(|k| thread::spawn(move || (0..100usize).filter(|i| i % 7 < unsafe { LIMIT } && i % 3 == k).count()))
        .collect();
    let n: usize = workers.into_iter().map(|w| w.join().unwrap()).sum();
    println!("{n}");
}
