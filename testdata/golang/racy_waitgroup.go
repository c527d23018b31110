// race: main.wg
package main

import (
	"fmt"
	"sync"
	"time"
)

var wg sync.WaitGroup

// The goroutine adds itself: Wait may come first. That it doesn't is owed to
// the time that passes.
func main() {
	done := make(chan bool)
	go func() {
		wg.Add(1)
		time.Sleep(5 * time.Millisecond)
		wg.Done()
		done <- true
	}()
	time.Sleep(time.Millisecond)
	wg.Wait()
	<-done
	fmt.Println("done")
}
