// race: heap(racy_map.go:13)
package main

import (
	"fmt"
	"sync"
)

// A map without a lock. Goroutines take turns by sleeping, which orders nothing
// and keeps the run-time from noticing.
func main() {
	m := map[int]int{}
	m[0] = 1
	var wg sync.WaitGroup
	turn := make(chan int, 8)
	for g := range 4 {
		wg.Go(func() {
			m[g] = g
			turn <- g
		})
	}
	wg.Wait()
	fmt.Println(len(m))
}
