// Goroutines that allocate have to help the collector: they wait inside of the
// allocation, and go on on another thread.
package main

import (
	"fmt"
	"runtime/debug"
	"sync"
)

type node struct {
	next *node
	v    [5]int
}

func list(n, v int) *node {
	var l *node
	for range n {
		l = &node{next: l}
		for i := range l.v {
			l.v[i] = v
		}
	}
	return l
}

func (l *node) sum() (s int) {
	for ; l != nil; l = l.next {
		for _, v := range l.v {
			s += v
		}
	}
	return s
}

func main() {
	debug.SetGCPercent(10)
	var wg sync.WaitGroup
	for v := range 12 {
		wg.Go(func() {
			keep := list(2000, v)
			for range 4 {
				if s := list(1000, v).sum(); s != 5000*v {
					panic(s)
				}
			}
			if keep.sum() != 10000*v {
				panic(v)
			}
		})
	}
	wg.Wait()
	fmt.Println("ok")
}
