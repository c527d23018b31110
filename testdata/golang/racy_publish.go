// race: main.data|main.ready
package main

import (
	"fmt"
	"runtime"
)

var (
	data  []string
	ready bool
)

func main() {
	done := make(chan bool)
	go func() {
		data = append(data, "published")
		ready = true
	}()
	go func() {
		n := 0
		for i := 0; i < 100; i++ {
			if ready {
				n += len(data)
				break
			}
			runtime.Gosched()
		}
		done <- n >= 0
	}()
	fmt.Println(<-done)
}
