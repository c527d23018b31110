// race: main.x harmful
package main

import (
	"fmt"
	"sync"
)

var x int

func main() {
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				x++
			}
		}()
	}
	wg.Wait()
	fmt.Println(x > 0)
}
