// race: heap(racy_err.go:18)
package main

import (
	"errors"
	"fmt"
	"sync"
)

func work(i int) error {
	if i%2 == 1 {
		return errors.New("odd")
	}
	return nil
}

func main() {
	var err error
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if err = work(i); err != nil {
				return
			}
		})
	}
	wg.Wait()
	_ = err
	fmt.Println("done")
}
