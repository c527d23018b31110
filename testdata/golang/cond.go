package main

import (
	"fmt"
	"sync"
)

type queue struct {
	mu    sync.Mutex
	ready *sync.Cond
	items []int
	done  bool
}

func main() {
	q := &queue{}
	q.ready = sync.NewCond(&q.mu)
	sums := make([]int, 3)
	var wg sync.WaitGroup
	for g := range sums {
		wg.Go(func() {
			for {
				q.mu.Lock()
				for len(q.items) == 0 && !q.done {
					q.ready.Wait()
				}
				if len(q.items) == 0 {
					q.mu.Unlock()
					return
				}
				v := q.items[0]
				q.items = q.items[1:]
				q.mu.Unlock()
				sums[g] += v
			}
		})
	}
	for i := range 100 {
		q.mu.Lock()
		q.items = append(q.items, i)
		q.mu.Unlock()
		q.ready.Signal()
	}
	q.mu.Lock()
	q.done = true
	q.mu.Unlock()
	q.ready.Broadcast()
	wg.Wait()
	fmt.Println(sums[0] + sums[1] + sums[2])
}
