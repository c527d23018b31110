// race: main.p|main.s
package main

import (
	"fmt"
	"sync"
)

type point struct {
	x, y int
	name string
}

var (
	p point
	s any = "a"
)

func main() {
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 100 {
			p = point{i, -i, fmt.Sprint(i)}
			s = i
		}
	})
	bad := 0
	wg.Go(func() {
		for range 100 {
			q := p
			if q.x != -q.y {
				bad++
			}
			if v, ok := s.(int); ok {
				bad += v * 0
			}
		}
	})
	wg.Wait()
	fmt.Println(p.x, bad >= 0)
}
