// A server and its clients on the loopback interface.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

type reply struct {
	Path string         `json:"path"`
	N    int            `json:"n"`
	Tags map[string]int `json:"tags"`
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	hits := map[string]int{}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		hits[r.URL.Path]++
		n := hits[r.URL.Path]
		mu.Unlock()
		json.NewEncoder(w).Encode(reply{r.URL.Path, n, map[string]int{"a": n}})
	})}
	go s.Serve(l)
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Go(func() {
			for range 3 {
				r, err := http.Get(fmt.Sprintf("http://%s/%d", l.Addr(), g))
				if err != nil {
					panic(err)
				}
				b, _ := io.ReadAll(r.Body)
				r.Body.Close()
				var x reply
				if err := json.Unmarshal(b, &x); err != nil {
					panic(err)
				}
			}
		})
	}
	wg.Wait()
	s.Close()
	mu.Lock()
	fmt.Println(len(hits))
	mu.Unlock()
}
