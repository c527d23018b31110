package races

import (
	"testing"

	"github.com/racesim/racesim/emulate"
)

func TestDetectorIsBounded(t *testing.T) {
	for _, c := range []struct {
		name string
		join bool // what was done is known to all from time to time
		old  bool
	}{{"forgets_what_all_know", true, false}, {"forgets_old_pages", false, true}} {
		t.Run(c.name, func(t *testing.T) {
			const memory = 8 << 20
			d := New(Config{Memory: memory})
			d.Feed(&Event{Op: OpThreadStart, Thread: 1})
			d.Feed(&Event{Op: OpThreadStart, Thread: 2, Value: 1})
			d.Feed(&Event{Op: OpThreadStart, Thread: 3, Value: 1})
			d.Feed(&Event{Op: OpWait, Thread: 1, Value: 2})
			for i := range 1_000_000 {
				th := emulate.ThreadID(2 + i%2)
				d.Feed(&Event{Op: OpAccess, Kind: Write, Thread: th, Addr: emulate.Addr(1<<30 + i*8), N: 8, PC: 1, Count: emulate.Count(i)})
				if i%1000 < 2 && c.join {
					d.Feed(&Event{Op: OpRelease, Thread: th, Object: ObjOther, Value: 1})
					d.Feed(&Event{Op: OpAcquire, Thread: 5 - th, Object: ObjOther, Value: 1})
				}
			}
			if f := d.Forgot(); f.Old != c.old {
				t.Errorf("forgot %+v", f)
			}
			if d.used > memory*3/2 {
				t.Errorf("%d bytes are kept, of at most %d", d.used, memory)
			}
			// The account is right.
			n := int64(0)
			for _, p := range d.pages {
				n += pageSize
				for i := range p.gran {
					n += int64(cap(p.gran[i].cells)) * cellSize
				}
			}
			if n != d.used {
				t.Errorf("%d bytes are kept, counted %d", n, d.used)
			}
			// What is new still races.
			for _, th := range []emulate.ThreadID{2, 3} {
				d.Feed(&Event{Op: OpAccess, Kind: Write, Thread: th, Addr: 0x1000, N: 8, PC: uint64(th)})
			}
			if len(d.Candidates()) != 1 {
				t.Errorf("%d candidates", len(d.Candidates()))
			}
		})
	}
}
