// verdict: harmful
// a counter that the compiler was told not to worry about
use std::thread;

static mut SERVED: u64 = 0;

#[inline(never)]
fn serve(n: u64) -> u64 {
    unsafe {
        SERVED = std::hint::black_box(SERVED) + 1;
    }
    n * 2
}

fn main() {
    let workers: Vec<_> = (0..2)
        .map(|k| {
            thread::spawn(move || {
                let mut sum = 0;
                for i in 0..60 {
                    sum += serve(i + k);
                }
                sum
            })
        })
        .collect();
    let total: u64 = workers.into_iter().map(|w| w.join().unwrap()).sum();
    println!("{} {}", total, unsafe { *std::ptr::addr_of!(SERVED) });
}
