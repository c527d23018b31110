// race: main.balance harmful
package main

import (
	"fmt"
	"sync"
)

var balance = 2000

func withdraw(n int) bool {
	if balance >= n {
		balance -= n
		return true
	}
	return false
}

func main() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	taken := 0
	for range 4 {
		wg.Go(func() {
			for range 40 {
				if withdraw(7) {
					mu.Lock()
					taken += 7
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	fmt.Println(taken > 0)
}
