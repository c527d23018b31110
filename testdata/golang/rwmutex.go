package main

import (
	"fmt"
	"sync"
)

var (
	mu    sync.RWMutex
	table = map[int]int{}
)

func get(k int) int {
	mu.RLock()
	defer mu.RUnlock()
	return table[k]
}

func put(k, v int) {
	mu.Lock()
	table[k] = v
	mu.Unlock()
}

func main() {
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for i := range 60 {
				if (i+g)%5 == 0 {
					put(i%16, i)
				} else if get(i%16) < 0 {
					panic("negative")
				}
			}
		})
	}
	wg.Wait()
	fmt.Println(len(table))
}
