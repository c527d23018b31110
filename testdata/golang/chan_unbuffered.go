// Without a buffer, the receive comes before the end of the send, too.
package main

import "fmt"

var a, b string

func main() {
	c, d := make(chan bool), make(chan bool)
	go func() {
		a = "sent"
		<-c
		<-d
		b += "!"
		d <- true
	}()
	c <- true
	fmt.Println(a)
	b = "received"
	d <- true
	<-d
	fmt.Println(b)
}
