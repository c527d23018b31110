// race: main.conf
package main

import (
	"fmt"
	"sync"
)

type config struct {
	name string
	opts map[string]int
}

var conf *config

func get() *config {
	if conf == nil {
		c := &config{name: "x", opts: map[string]int{}}
		c.opts["a"] = 1
		conf = c
	}
	return conf
}

func main() {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if get().opts["a"] != 1 {
				panic("half made")
			}
		})
	}
	wg.Wait()
	fmt.Println(conf.name)
}
