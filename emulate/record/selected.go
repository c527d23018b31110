package record

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/traces"
)

// Selective recording: a thread's stream has gaps, in which it executes as ever,
// on the caches, but nothing is logged. It is switched on at the entry of a
// selected function, with a key frame, and off when it has computed for a
// certain distance outside of them: that many instructions after the last one
// returned. The distance keeps switches few when such functions are called
// often.

// A selection is what selective recording keeps of a thread.
type selection struct {
	off    bool
	within bool   // of a selected function, the outermost of which
	sp     uint64 // had its return address at sp
	left   uint64 // count when it returned, or when the thread began
}

// selects notes the functions of a module that are selected.
func (r *recorder) selects(m linux.Module) {
	if r.cfg.Select == nil {
		return
	}
	for _, a := range r.cfg.Select(m) {
		r.entries[a] = true
		for _, t := range r.live {
			t.t.CPU.Blocks.Break(uint64(a))
		}
	}
}

// renew makes the processor that a thread got with another program tell of what
// the old one told of.
func (r *recorder) renew(t *thread) {
	r.execed = false
	c := t.t.CPU
	r.watchCode(c)
	if t.reads != nil {
		c.Watch = t.reads
	}
	for a := range r.entries {
		c.Blocks.Break(uint64(a))
	}
	t.sel.within, t.sel.left = false, c.Count
}

// selectFrom begins the selection of a new thread.
func (r *recorder) selectFrom(t *thread) {
	if r.cfg.Select == nil {
		return
	}
	for a := range r.entries {
		t.t.CPU.Blocks.Break(uint64(a))
	}
	if r.cur != nil && r.cur != t && !r.cur.sel.off {
		// Inherited: a thread that a selected function creates belongs to it.
		t.sel.within, t.sel.sp = r.cur.sel.within, ^uint64(0)
		return
	}
	t.sel.off = true
	r.w.Put(t.stream, t.t.CPU.Count, &traces.Packet{Kind: traces.Gap})
}

// Break implements linux.BreakHooks.
func (r *recorder) Break(lt *linux.Thread) {
	t := lt.Rec.(*thread)
	c := lt.CPU
	sp := c.R[x86.RSP]
	if t.sel.within {
		if sp > t.sel.sp { // it has returned
			t.sel.within, t.sel.left = false, c.Count
		} else {
			return
		}
	}
	if !r.entries[emulate.Addr(c.RIP)] {
		return
	}
	t.sel.within, t.sel.sp = true, sp
	var b [8]byte
	if r.as.Peek(emulate.Addr(sp), b[:]) == len(b) {
		ret := uint64(0)
		for i, v := range b {
			ret |= uint64(v) << (8 * i)
		}
		c.Blocks.Break(ret)
	}
	if t.sel.off {
		t.sel.off = false
		r.keyFrame(t)
		r.event(t, &traces.Packet{Kind: traces.Switch, Unit: uint32(r.unit), In: true})
	}
}

// rests switches a thread off that has just lost its unit, or is about to get
// one, if it is far from what is selected.
func (r *recorder) rests(t *thread) {
	if r.cfg.Select == nil || t.sel.off || t.sel.within || t.inCall || t.split || t.t.CPU.Count-t.sel.left < r.cfg.SelectDistance {
		return
	}
	r.put(t.stream, t.t.CPU.Count, &traces.Packet{Kind: traces.Gap})
	t.sel.off = true
}

// silent says whether nothing is to be logged of a stream now.
func (r *recorder) silent(stream uint32) bool {
	if r.cfg.Select == nil || stream == 0 {
		return false
	}
	t := r.streams[stream]
	return t != nil && t.sel.off
}
