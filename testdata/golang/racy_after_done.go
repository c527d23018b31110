// race: main.last harmful
package main

import (
	"fmt"
	"sync"
	"time"
)

var last int

// What comes after Done isn't waited for, and Done doesn't order the others.
func main() {
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		go func() {
			wg.Done()
			for range 30 {
				last += i
			}
		}()
	}
	wg.Wait()
	time.Sleep(time.Millisecond)
	fmt.Println("done")
}
