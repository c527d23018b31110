// Many goroutines, much memory, deep stacks.
package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
)

type tree struct{ l, r *tree }

func grow(n int) *tree {
	if n == 0 {
		return &tree{}
	}
	return &tree{grow(n - 1), grow(n - 1)}
}

func (t *tree) count() int {
	if t == nil {
		return 0
	}
	return 1 + t.l.count() + t.r.count()
}

func deep(n int, p *int) int {
	var pad [64]byte
	pad[n%64] = byte(n)
	if n == 0 {
		*p++
		return int(pad[0])
	}
	return deep(n-1, p) + int(pad[n%64])&1
}

func main() {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3 {
				if n := grow(9).count(); n != 1<<10-1 {
					panic(n)
				}
				x := 0
				deep(2000, &x)
				runtime.GC()
				m := map[string][]string{}
				for i := range 40 {
					k := fmt.Sprint("k", i%7)
					m[k] = append(m[k], strings.Repeat("v", i))
				}
				if b, err := json.Marshal(m); err != nil || len(b) == 0 {
					panic(err)
				}
			}
		})
	}
	wg.Wait()
	const n = 10_000
	all := make([]int, n)
	for i := range all {
		wg.Go(func() { all[i] = i })
	}
	wg.Wait()
	sum := 0
	for _, v := range all {
		sum += v
	}
	fmt.Println(sum)
}
