package record

import (
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// holders names, for each line of a page, the thread of this process that read
// or wrote it last: who has it, when another thread misses it.
//
// That thread's replay has the line's bytes, as long as its thread.held says so:
// unlike thread.know that isn't forgotten at key frames, because whoever replays
// a trace whose threads depend on one another replays from the start.
type holders map[uint64]*[linesPerPage]*thread

// note makes t, which has the line's present content, its holder.
func (h holders) note(t *thread, line uint64, l *hwmodel.Line) {
	t.held.Note(line, l)
	p := h[line/linesPerPage]
	if p == nil {
		p = new([linesPerPage]*thread)
		h[line/linesPerPage] = p
	}
	p[line%linesPerPage] = t
}

// fetch logs that a line which the running thread misses comes from a thread
// that has it, if one does. Its order is told by the other's last event: the
// other isn't running, so that it has done all before its next one.
func (r *recorder) fetch(c *x86.CPU, line uint64, l *hwmodel.Line, write bool) bool {
	s := r.holders.of(line, l)
	if s == nil {
		return r.fetchAs(c, line, l, write)
	}
	k := traces.Fetch
	if write {
		k = traces.FetchOwn
	}
	if r.cfg.LogMode == LogCCPReaders && s != r.cur {
		k += traces.Snoop - traces.Fetch
		r.put(r.cur.stream, c.InstrCount(), r.named(&traces.Packet{Kind: k, Line: line, Thread: s.stream, Value: r.others(line, l)}))
		if write {
			r.taken = l // the others are told
		}
		return true
	}
	r.put(r.cur.stream, c.InstrCount(), r.named(&traces.Packet{Kind: k, Line: line, Thread: s.stream, Since: s.min}))
	return true
}

// of returns the thread that has a line's present content, nil if none does: the
// last one may have other memory's at this address, or not any more because the
// kernel or an unrecorded process wrote it.
func (h holders) of(line uint64, l *hwmodel.Line) *thread {
	if p := h[line/linesPerPage]; p != nil {
		if s := p[line%linesPerPage]; s != nil && s.held.Known(line, l) {
			return s
		}
	}
	return nil
}

// fetchAs is fetch of a line that a thread, maybe the running one, has under
// another virtual address. Messages of LogCCPReaders can't say that.
func (r *recorder) fetchAs(c *x86.CPU, line uint64, l *hwmodel.Line, write bool) bool {
	if r.cfg.LogMode == LogCCPReaders {
		return false
	}
	for _, page := range r.as.Aliases(line / linesPerPage) {
		theirs := page*linesPerPage + line%linesPerPage
		if s := r.holders.of(theirs, l); s != nil {
			r.put(r.cur.stream, c.InstrCount(), r.named(&traces.Packet{Kind: traces.FetchAs, Line: line, Thread: s.stream, Since: s.min, Value: theirs, In: write}))
			return true
		}
	}
	return false
}

// others returns how many threads beside the running one have a line.
func (r *recorder) others(line uint64, l *hwmodel.Line) (n uint64) {
	for _, t := range r.all {
		if t != r.cur && t.held.Known(line, l) {
			n++
		}
	}
	return n
}

// upgrade logs that the running thread is about to write a line that others
// have, too, unless a message has said so.
func (r *recorder) upgrade(c *x86.CPU, line uint64, l *hwmodel.Line) {
	taken := r.taken == l
	r.taken = nil
	n := uint64(0)
	if !taken {
		n = r.others(line, l)
	}
	if n == 0 {
		return
	}
	for i := len(r.all) - 1; i >= 0; i-- {
		if t := r.all[i]; t != r.cur && t.held.Known(line, l) {
			r.put(r.cur.stream, c.InstrCount(), r.named(&traces.Packet{Kind: traces.Upgrade, Line: line, Thread: t.stream, Value: n}))
			return
		}
	}
}
