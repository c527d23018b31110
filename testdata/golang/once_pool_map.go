package main

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
)

type config struct{ name string }

var (
	once sync.Once
	conf *config
	val  = sync.OnceValue(func() []int { return []int{1, 2, 3} })
	pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	seen sync.Map
	n    atomic.Int64
)

func load() *config {
	once.Do(func() { conf = &config{"loaded"} })
	return conf
}

func main() {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 30 {
				b := pool.Get().(*bytes.Buffer)
				b.Reset()
				fmt.Fprintf(b, "%s %d", load().name, i)
				if v, ok := seen.LoadOrStore(i, b.String()); ok && v.(string) != b.String() {
					panic("differs")
				}
				n.Add(int64(val()[g%3]))
				pool.Put(b)
			}
		})
	}
	wg.Wait()
	seen.Range(func(k, v any) bool { n.Add(int64(len(v.(string)))); return true })
	fmt.Println(n.Load())
}
