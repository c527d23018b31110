// race: heap(racy_waits.go harmful
// Goroutines wait inside of functions, and go on on another thread.
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
type stats struct{ lists, nodes int }

func list(n int, s *stats) *node {
	var l *node
	for range n {
		l = &node{next: l}
		s.nodes++
	}
	return l
}

func round(s *stats) int {
	l := list(1000, s)
	n := 0
	for ; l != nil; l = l.next {
		n++
	}
	return n
}

func worker(s *stats) {
	keep := list(2000, s)
	for range 4 {
		round(s)
	}
	_ = keep
	s.lists++
}

func main() {
	debug.SetGCPercent(10)
	var wg sync.WaitGroup
	s := new(stats)
	for range 8 {
		wg.Go(func() { worker(s) })
	}
	wg.Wait()
	fmt.Println(s.lists)
}
