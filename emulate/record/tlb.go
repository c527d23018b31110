package record

import (
	"github.com/racesim/racesim/traces"
)

// named makes a packet about a line of the running access name it by the unit's
// TLB entry, if lines are.
func (r *recorder) named(p *traces.Packet) *traces.Packet {
	p.Entry, p.Alias = r.m.Log(r.entry, r.cur)
	return p
}

// LogEntry implements hwmodel.EntryLog: the thread's stream names a page by an
// entry that turned out to have another virtual address, too.
func (t *thread) LogEntry(id, page, alias uint64) {
	if t.exited || t.r.ended {
		return
	}
	t.r.put(t.stream, t.t.CPU.InstrCount(), &traces.Packet{Kind: traces.TLB, Entry: id, N: page, Alias: alias})
}
