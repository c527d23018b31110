package main

import (
	"fmt"
	"sync"
)

type account struct {
	sync.Mutex
	balance int
	log     []int
}

func (a *account) add(n int) {
	a.Lock()
	defer a.Unlock()
	a.balance += n
	a.log = append(a.log, n)
}

func main() {
	a := &account{}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 60 {
				a.add(g * i)
			}
		}()
	}
	wg.Wait()
	fmt.Println(a.balance, len(a.log))
}
