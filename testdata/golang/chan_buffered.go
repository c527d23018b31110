// A channel with a buffer hands values on; the buffer's places come back.
package main

import "fmt"

type item struct{ a, b int }

func main() {
	c := make(chan *item, 3)
	done := make(chan int, 1)
	go func() {
		sum := 0
		for it := range c {
			it.b = it.a * 2
			sum += it.b
		}
		done <- sum
	}()
	for i := 0; i < 100; i++ {
		c <- &item{a: i}
	}
	close(c)
	fmt.Println(<-done)
}
