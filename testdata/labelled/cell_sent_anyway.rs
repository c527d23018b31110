// verdict: harmful
// a vector in an UnsafeCell that is declared to be Sync: both push, and elements get lost
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::thread;

struct Log(UnsafeCell<Vec<u32>>);
unsafe impl Sync for Log {}
unsafe impl Send for Log {}

impl Log {
    fn add(&self, v: u32) {
        unsafe { (*self.0.get()).push(v) }
    }
}

fn main() {
    let log = Arc::new(Log(UnsafeCell::new(Vec::with_capacity(200))));
    let workers: Vec<_> = (0..2u32)
        .map(|k| {
            let log = log.clone();
            thread::spawn(move || {
                for i in 0..60 {
                    log.add(i * 2 + k);
                }
            })
        })
        .collect();
    for w in workers {
        w.join().unwrap();
    }
    println!("{}", unsafe { (*log.0.get()).len() });
}
