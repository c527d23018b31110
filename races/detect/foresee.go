package detect

import (
	"sync/atomic"

	"github.com/racesim/racesim/races"
)

// A foreseer predicts from a log while it is still being written, beside the
// pass: it begins when two threads took the same lock.
type foreseer struct {
	pred     *races.Predictor
	blocks   *races.Detector // knows the heap as it was
	suspects map[uint64]bool
	dec      logDecoder

	in   chan logPart
	quit atomic.Bool
	done chan struct{}
}

// maxBehind is the number of chunks that the foreseer may be behind: the pass
// waits for it.
const maxBehind = 32

// early hands the chunks that are complete to the foreseer, which is made if
// need be.
func (p *Pass) early() {
	f := p.foreseer
	if f == nil {
		f = &foreseer{blocks: races.New(races.Config{}), suspects: map[uint64]bool{}, in: make(chan logPart, maxBehind), done: make(chan struct{})}
		f.pred = p.newPredictor(func(line uint64) { f.suspects[line] = true }, f.blocks)
		p.foreseer = f
		go f.run()
	}
	f.send(&p.log, false)
}

func (f *foreseer) send(l *eventLog, all bool) {
	for {
		c, ok := l.take(all)
		if !ok {
			return
		}
		f.in <- c
	}
}

func (f *foreseer) run() {
	defer close(f.done)
	for b := range f.in {
		if !f.quit.Load() {
			f.dec.each(b, f.take)
		}
	}
}

func (f *foreseer) take(e *races.Event) {
	switch e.Op {
	case races.OpAlloc, races.OpFree, races.OpReset:
		f.blocks.Feed(e)
	}
	f.pred.Feed(e)
}

// end hands over what is left and returns the predictor when it has seen all.
func (f *foreseer) end(l *eventLog) *races.Predictor {
	f.send(l, true)
	close(f.in)
	<-f.done
	f.pred.Finish()
	return f.pred
}

// Drop ends what a pass still does in the background. It is to be called when
// nothing more is wanted of it.
func (p *Pass) Drop() {
	if f := p.foreseer; f != nil {
		f.quit.Store(true)
		f.end(&eventLog{})
		p.foreseer = nil
	}
	p.log = eventLog{full: true}
}
