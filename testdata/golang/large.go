// Large blocks are cleared bit by bit, and a goroutine may go on on another
// thread in between: inside of the allocation still.
package main

import (
	"fmt"
	"runtime/debug"
	"sync"
)

func fill(n, v int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 64 {
		b[i] = byte(v)
	}
	return b
}

func main() {
	debug.SetGCPercent(5)
	var wg sync.WaitGroup
	for v := range 8 {
		wg.Go(func() {
			for k := range 6 {
				b := fill(300_000+k*4096, v)
				for i := 0; i < len(b); i += 64 {
					if b[i] != byte(v) {
						panic(b[i])
					}
				}
				small := make([]*[64]*int, 20)
				for i := range small {
					small[i] = new([64]*int)
					small[i][v] = new(int)
				}
				var s []int
				for i := range 3000 {
					s = append(s, i)
				}
				if s[2999] != 2999 {
					panic(s)
				}
			}
		})
	}
	wg.Wait()
	fmt.Println("ok")
}
