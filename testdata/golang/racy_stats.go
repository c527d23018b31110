// race: main.level benign
package main

import (
	"fmt"
	"sync"
)

var level int

// Everybody stores the same value, and nobody reads another.
func main() {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			level = 3
		})
	}
	wg.Wait()
	fmt.Println(level)
}
