// race: main.p benign
package main

import (
	"fmt"
	"sync"
)

type conf struct{ a, b int }

var p *conf

// get may make several, and all are alike.
func get() int {
	c := p
	if c == nil {
		c = &conf{1, 2}
		p = c
	}
	return c.a + c.b
}

func main() {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if get() != 3 {
				panic("half")
			}
		})
	}
	wg.Wait()
	fmt.Println(p.a)
}
