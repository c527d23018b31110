// race: main.all harmful
package main

import (
	"fmt"
	"sync"
)

var all []int

func main() {
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 20 {
				all = append(all, g*100+i)
			}
		})
	}
	wg.Wait()
	fmt.Println(len(all) > 0)
}
