package record

import (
	"fmt"

	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
)

// Values of Config.CodeLog: what is logged of code that isn't as a module's file
// has it, because the program makes or changes it.
const (
	// The content of the page, for all threads, when it is executed first and
	// when it has changed since.
	CodeLogPage = "page"
	// What a thread executes is logged as what it reads is: a line flows in through
	// the code cache, unless the thread's stream holds it already, for instance
	// because the thread wrote it.
	CodeLogLine = "line"
)

// checkCodeLog says what is wrong with the log of code.
func (c *Config) checkCodeLog() error {
	switch {
	case c.CodeLog != "" && c.CodeLog != CodeLogPage && c.CodeLog != CodeLogLine:
		return fmt.Errorf("record: log of code %q, expected %s or %s", c.CodeLog, CodeLogPage, CodeLogLine)
	case c.CodeLog == CodeLogLine && (c.LogMode != LogIndependent || c.reads.Kind != hwmodel.ReadsCache):
		return fmt.Errorf("record: code by lines with log mode %s and read log %s: lines of code flow into a thread alone, choose independent and cache", c.LogMode, c.ReadLog)
	}
	return nil
}

// watchCode makes a processor tell of the code that the code cache has to be
// asked for: all of it, if that is modelled, or what the program makes.
func (r *recorder) watchCode(c *x86.CPU) {
	if c.Fetches == nil && r.m.FetchWindow(0) != nil {
		c.Fetches = r
		c.Blocks.WatchFetches(r.watched)
	}
}

// watched says whether the code cache is asked for code of a page.
func (r *recorder) watched(page uint64) bool {
	if r.cfg.L1I != (hwmodel.Geometry{}) {
		return true
	}
	e := r.code[page]
	return e != nil && e.own
}

// Fetch serves x86.FetchSink.
func (r *recorder) Fetch(c *x86.CPU, first, last uint64) {
	r.fetches.N += last - first + 1
	for line := first; line <= last; line++ {
		if !r.fetches.Has(line) {
			r.fetchCode(c, line)
		}
	}
}

// fetchCode is what happens when the running thread's window of code doesn't
// answer.
func (r *recorder) fetchCode(c *x86.CPU, line uint64) {
	e := r.find(line, false)
	l := &e.frame.HW[line%linesPerPage]
	r.m.Fetch(r.unit, l, line)
	r.fetches.Allow(line)
	if own := r.code[line/linesPerPage]; own == nil || !own.own {
		return
	}
	t := r.cur
	if t.know.Known(line, l) {
		return
	}
	if r.tlb {
		r.entry = r.m.Translate(r.unit, r.as.ID(), e.page-1, &e.frame.HW[0])
	}
	if !t.sel.off {
		if err := r.imported(t, c.InstrCount(), line, e.data); err != nil {
			r.failed(err)
			x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: err})
		}
	}
	if t.know.Forgot(line, l) {
		t.again++
	}
	t.imports++
	t.know.Learn(line, l)
}
