package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// How progress is shown: not before quiet has passed, then every refresh.
const (
	quiet   = 2 * time.Second
	refresh = 200 * time.Millisecond
)

// A progress shows on a terminal how far long work is, on one line that is
// gone when the work is done. Of a nil one nothing is seen. It is safe for
// concurrent use.
type progress struct {
	w     io.Writer
	now   func() time.Time
	mu    sync.Mutex
	begun time.Time
	last  time.Time // when it was shown
	shown bool
}

// newProgress shows progress on stderr if that is a terminal; else it is nil:
// logs have none.
func newProgress() *progress {
	if _, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS); err != nil {
		return nil
	}
	return &progress{w: os.Stderr, now: time.Now, begun: time.Now()}
}

// step says what is being done, and how much of it is.
func (p *progress) step(phase string, done, total int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.now()
	if t.Sub(p.begun) < quiet || t.Sub(p.last) < refresh {
		return
	}
	p.last, p.shown = t, true
	percent := 0
	if total > 0 {
		percent = 100 * done / total
	}
	fmt.Fprintf(p.w, "\r\x1b[Kracesim: %s, %d %%", phase, percent)
}

// end removes what is shown.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// call is step for racesim.AnalyzeOptions; nil if nothing is to be shown, so
// that nothing is spent on it.
func (p *progress) call() func(string, int, int) {
	if p == nil {
		return nil
	}
	return p.step
}
