// Closures, generics and statics.
// stack: names::Counter<T>::bump
// variable: names::TOTAL.hits
use std::thread;

struct Counter<T> {
    spare: T,
    hits: u64,
}

impl<T: Copy> Counter<T> {
    #[inline(never)]
    fn bump(&mut self) -> T {
        self.hits += 1;
        self.spare
    }
}

static mut TOTAL: Counter<u32> = Counter { spare: 1, hits: 0 };

fn main() {
    let all: Vec<_> = (0..2)
        .map(|_| {
            thread::spawn(|| {
                let mut sum = 0;
                for _ in 0..10 {
                    sum += unsafe { (*std::ptr::addr_of_mut!(TOTAL)).bump() };
                }
                sum
            })
        })
        .collect();
    for t in all {
        t.join().unwrap();
    }
}
