// Atomic stores publish what was written before them.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

type state struct{ a, b, c int }

var (
	cur   atomic.Pointer[state]
	ready atomic.Bool
	data  [4]int
	old   int32
	v     atomic.Value
	spin  int32
	guard int
)

func main() {
	cur.Store(&state{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range data {
			data[i] = i * i
		}
		ready.Store(true)
	})
	wg.Go(func() {
		for !ready.Load() {
		}
		fmt.Println(data)
	})
	for range 4 {
		wg.Go(func() {
			for range 30 {
				for {
					p := cur.Load()
					q := *p
					q.a++
					q.b = q.a * 2
					if cur.CompareAndSwap(p, &q) {
						break
					}
				}
				atomic.AddInt32(&old, 1)
				for !atomic.CompareAndSwapInt32(&spin, 0, 1) {
				}
				guard++
				atomic.StoreInt32(&spin, 0)
			}
		})
	}
	v.Store([]string{"x"})
	wg.Go(func() { fmt.Println(v.Load().([]string)[0]) })
	wg.Wait()
	fmt.Println(cur.Load().b, atomic.LoadInt32(&old), guard)
}
