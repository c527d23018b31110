// race: heap(racy_capture.go:11)
package main

import (
	"fmt"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	i := 0
	sums := make([]int, 5)
	for i = 0; i < 5; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			sums[i%5]++
		}()
	}
	wg.Wait()
	fmt.Println(len(sums))
}
