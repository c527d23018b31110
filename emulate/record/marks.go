package record

import (
	"fmt"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// Marks are the annotations that a recording can have. Replay doesn't need
// them. That a thread gets or loses a unit is always in the trace.
type Marks uint8

// The marks that can be asked for.
const (
	MarkTimes    Marks = 1 << iota // the guest's clock, whenever a thread gets a unit
	MarkCounters                   // what the thread's unit counted, whenever a thread loses it
	MarkFaults                     // the first access to a page, which the kernel must provide
)

var markNames = []string{"time", "counters", "faults"}

// ParseMarks reads names separated by commas; "" are none.
func ParseMarks(s string) (Marks, error) {
	var m Marks
	for _, name := range strings.Split(s, ",") {
		ok := name == "" && s == ""
		for i, n := range markNames {
			if n == name {
				m, ok = m|1<<i, true
			}
		}
		if !ok {
			return 0, fmt.Errorf("mark %q: want some of %s", name, strings.Join(markNames, ","))
		}
	}
	return m, nil
}

// userMark is the leaf of CPUID by which a program puts a mark in the trace
// ("RSMK"): RDX is the mark's value, RSI the address of its name, which ends
// with a zero byte. On a processor, CPUID only overwrites registers.
const userMark = 0x4b4d5352

// maxMarkName is the length to which a user mark's name is cut, bytes.
const maxMarkName = 256

// userMarked puts a mark of the program's in its thread's stream.
func (r *recorder) userMarked(c *x86.CPU) {
	name := make([]byte, maxMarkName)
	name = name[:r.as.Peek(emulate.Addr(c.R[x86.RSI]), name)]
	text, _, _ := strings.Cut(string(name), "\x00")
	r.put(r.cur.stream, c.InstrCount(), &traces.Packet{Kind: traces.Mark, Name: traces.MarkUser, Value: c.R[x86.RDX], Bytes: []byte(text)})
	if text == "snapshot" && r.cfg.snapshots&SnapshotMark != 0 {
		r.wholeMemory()
	}
}

// markIn puts in the stream of a thread that gets a unit when that is.
func (r *recorder) markIn(t *thread) {
	if r.cfg.marks&MarkTimes != 0 {
		r.put(t.stream, t.t.CPU.Count, &traces.Packet{Kind: traces.Mark, Name: traces.MarkTime, Value: uint64(r.p.Now())})
	}
}

// markOut puts in the stream of a thread that loses its unit what that counted
// meanwhile.
func (r *recorder) markOut(t *thread) {
	if r.cfg.marks&MarkCounters == 0 {
		return
	}
	var since hwmodel.Counters
	now := r.m.Counters(r.unit)
	since.Add(&t.counted, &now)
	if b := countersText(&since); len(b) > 0 {
		r.put(t.stream, t.t.CPU.Count, &traces.Packet{Kind: traces.Mark, Name: traces.MarkCounters, Value: uint64(r.unit), Bytes: b})
	}
}

// countersText is the text of a mark: those that aren't 0.
func countersText(c *hwmodel.Counters) (b []byte) {
	for _, c := range c.List() {
		if c.Value > 0 {
			b = fmt.Appendf(b, "%s=%d ", c.Name, c.Value)
		}
	}
	return b[:max(len(b), 1)-1]
}

// count adds to a thread's sum what its unit counted since it got that.
func (r *recorder) count(t *thread) {
	now := r.m.Counters(r.unit)
	t.sum.Add(&t.counted, &now)
	t.counted = now
}

// putCounted puts a thread's sum in its stream: between two of them, the caches'
// counters are known of a ring, too, where those of the whole recording are of
// more than is left.
func (r *recorder) putCounted(t *thread) {
	r.put(t.stream, t.t.CPU.Count, &traces.Packet{Kind: traces.Mark, Name: traces.MarkCounted, Bytes: countersText(&t.sum)})
}

// markFault puts in the running thread's stream that it is the first to access a
// page.
func (r *recorder) markFault(page uint64) {
	r.put(r.cur.stream, r.cur.t.CPU.InstrCount(), &traces.Packet{Kind: traces.Mark, Name: traces.MarkFault, Value: page << pageShift})
}
