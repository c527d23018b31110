// race: main.hits harmful
package main

import (
	"fmt"
	"sync"
)

var (
	mu    sync.RWMutex
	table = map[string]int{"a": 1}
	hits  int
)

// lookup counts under a lock that lets others in.
func lookup(k string) int {
	mu.RLock()
	defer mu.RUnlock()
	hits++
	return table[k]
}

func main() {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 30 {
				lookup("a")
			}
		})
	}
	wg.Wait()
	fmt.Println(hits > 0)
}
