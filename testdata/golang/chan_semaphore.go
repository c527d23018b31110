// A channel with a buffer of one is a lock: the k-th receive comes before the
// (k+1)-th send.
package main

import "fmt"

var n int

func main() {
	sem := make(chan struct{}, 1)
	done := make(chan bool)
	for g := 0; g < 4; g++ {
		go func() {
			for i := 0; i < 50; i++ {
				sem <- struct{}{}
				n++
				<-sem
			}
			done <- true
		}()
	}
	for g := 0; g < 4; g++ {
		<-done
	}
	fmt.Println(n)
}
