package replay

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/traces"
)

// A message is a packet of a stream that says something of who has a line.
type message struct {
	kind   traces.Kind
	nth    uint64           // place in the stream, from 0
	at     uint64           // instruction
	min    uint64           // the thread's last orderable event
	since  uint64           // of a fetch: the source's
	line   uint64           // as the source has it
	source emulate.ThreadID // who has the line; of several, one
	keys   int              // key frames of the thread before it
	count  uint64           // of snoops and upgrades: how many others have it
}

// wants says that the message stands for bytes that another thread has.
func (m *message) wants() bool { return m.source != 0 && m.kind != traces.Upgrade }

// messages are those of all streams.
type messages struct {
	of     map[emulate.ThreadID][]message // in the order of the streams
	events map[emulate.ThreadID][]event
}

// An event is an orderable one of a stream.
type event struct {
	nth   uint64 // place of its packet
	at    uint64 // instruction
	min   uint64
	order bool // an orderable instruction
	mark  bool // of a switch: an annotation of the schedule
}

// readMessages reads all streams. A thread's own lines, fetched after a key
// frame, are no messages: it has them.
func (s *Session) readMessages() (*messages, error) {
	ms := &messages{map[emulate.ThreadID][]message{}, map[emulate.ThreadID][]event{}}
	solving := s.solving()
	for _, id := range s.threads {
		cur, keys := s.r.Cursor(uint32(id)), 0
		for nth := uint64(0); ; nth++ {
			p, err := cur.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			m := message{kind: p.Kind, nth: nth, at: p.Count, min: cur.Min(), line: p.Line, keys: keys}
			switch p.Kind {
			case traces.KeyFrame:
				keys++
				continue
			case traces.Fetch, traces.FetchOwn, traces.FetchAs:
				m.source, m.since = emulate.ThreadID(p.Thread), p.Since
				if p.Kind == traces.FetchAs {
					m.line = p.Value
				}
			case traces.Snoop, traces.SnoopOwn, traces.Upgrade:
				m.source, m.count = emulate.ThreadID(p.Thread), p.Value
			case traces.Import:
				if !solving {
					continue
				}
			default:
				if solving && p.Kind.HasMin() {
					ms.events[id] = append(ms.events[id], event{nth, p.Count, p.Min, p.Kind == traces.Order, p.Kind == traces.Switch})
				}
				continue
			}
			if m.source == id {
				continue
			}
			if _, ok := s.last[m.source]; m.source != 0 && !ok {
				return nil, fmt.Errorf("replay: thread %d, instruction %d: a line of thread %d, which isn't in the trace", id, p.Count, m.source)
			}
			ms.of[id] = append(ms.of[id], m)
		}
	}
	return ms, nil
}

// order checks that the messages' inequalities have a solution.
func (ms *messages) order() error {
	o := newOrdering()
	for id, l := range ms.of {
		for _, m := range l {
			if m.wants() {
				o.fetched(access{m.source, m.since}, access{id, m.min})
			}
		}
	}
	_, err := o.solve()
	return err
}

// byMarks says for each snoop where in the other's stream it came: before which
// packet. It takes the order from all events, the schedule's marks among them.
func (ms *messages) byMarks() map[emulate.ThreadID][]uint64 {
	r := map[emulate.ThreadID][]uint64{}
	for id, l := range ms.of {
		for _, m := range l {
			if m.wants() {
				r[id] = append(r[id], ms.after(m.source, m.min))
			}
		}
	}
	return r
}

// after returns the place of a thread's first event after another's event min,
// the largest number if it has none.
func (ms *messages) after(id emulate.ThreadID, min uint64) uint64 {
	l := ms.events[id]
	i := sort.Search(len(l), func(i int) bool { return l[i].min > min })
	if i == len(l) {
		return math.MaxUint64
	}
	return l[i].nth
}
