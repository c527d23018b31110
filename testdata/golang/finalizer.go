// Finalizers and cleanups come after all use of what they are for.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

type res struct {
	n    int
	list []int
}

func main() {
	c := make(chan int, 64)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 8 {
				r := &res{n: i}
				runtime.SetFinalizer(r, func(r *res) {
					r.n++
					c <- r.n + len(r.list)
				})
				s := &res{n: i}
				log := new(int)
				runtime.AddCleanup(s, func(p *int) { *p++; c <- 0 }, log)
				*log = i
				s.list = append(s.list, i)
				r.list = append(r.list, s.list...)
			}
		})
	}
	wg.Wait()
	got := 0
	for range 20 {
		runtime.GC()
		for more := true; more && got < 40; {
			select {
			case <-c:
				got++
			case <-time.After(time.Millisecond):
				more = false
			}
		}
	}
	fmt.Println(got > 0)
}
