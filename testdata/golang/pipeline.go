// Stages handing values on, with a select, a time-out and a context.
package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

type job struct {
	n   int
	out []int
}

func stage(ctx context.Context, in <-chan *job, f func(*job)) <-chan *job {
	out := make(chan *job)
	go func() {
		defer close(out)
		for j := range in {
			f(j)
			select {
			case out <- j:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// group is like golang.org/x/sync/errgroup.
type group struct {
	wg   sync.WaitGroup
	once sync.Once
	err  error
}

func (g *group) Go(f func() error) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		if err := f(); err != nil {
			g.once.Do(func() { g.err = err })
		}
	}()
}

func (g *group) Wait() error {
	g.wg.Wait()
	return g.err
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	src := make(chan *job)
	go func() {
		defer close(src)
		for i := range 40 {
			src <- &job{n: i}
		}
	}()
	total := 0
	for j := range stage(ctx, stage(ctx, src, func(j *job) { j.out = append(j.out, j.n) }), func(j *job) { j.out = append(j.out, j.n*j.n) }) {
		total += len(j.out) + j.out[1]
	}
	fmt.Println(total)

	var g group
	results := make([]int, 6)
	for i := range results {
		g.Go(func() error {
			results[i] = i
			if i == 4 {
				return errors.New("four")
			}
			return nil
		})
	}
	fmt.Println(g.Wait(), results)

	var word string
	c := make(chan int, 1)
	time.AfterFunc(3*time.Millisecond, func() {
		word += " after"
		c <- 1
	})
	t := time.NewTicker(time.Millisecond)
	ticks := 0
	for waiting := true; waiting; {
		select {
		case <-t.C:
			ticks++
		case <-c:
			waiting = false
		}
	}
	t.Stop()
	select {
	case <-c:
	case <-time.After(time.Millisecond):
		word += " time-out"
	}
	stop, cancel2 := context.WithCancel(ctx)
	var why error
	done := make(chan bool)
	go func() {
		<-stop.Done()
		why = stop.Err()
		close(done)
	}()
	cancel2()
	<-done
	fmt.Println(word, why, ticks > 0)
}
