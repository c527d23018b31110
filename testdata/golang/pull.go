// iter.Pull: two goroutines take turns, on one thread or another.
package main

import (
	"fmt"
	"iter"
	"runtime"
	"sync"
)

type state struct{ given, taken int }

func count(s *state, n int) iter.Seq[*state] {
	return func(yield func(*state) bool) {
		for range n {
			s.given += 1 + s.taken
			if !yield(s) {
				s.given = 0
				return
			}
		}
	}
}

func main() {
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			s := &state{}
			next, stop := iter.Pull(count(s, 30))
			for range 20 + 5*k {
				if s, ok := next(); ok {
					s.taken = s.given % 7
				}
				if k&1 == 1 {
					runtime.Gosched()
				}
			}
			stop()
			s.taken += s.given
			if s.taken < 0 {
				panic(s.taken)
			}
		})
	}
	wg.Wait()
	fmt.Println("ok")
}
