package races

import (
	"math/rand"
	"testing"

	"github.com/racesim/racesim/emulate"
)

// benchEvents is a mix as four threads of a parallel program make it: runs of
// accesses to own and to shared, read-mostly memory, under a lock from time to
// time.
func benchEvents(n int) []Event {
	r := rand.New(rand.NewSource(1))
	var l []Event
	l = append(l, Event{Op: OpThreadStart, Thread: 1})
	for th := emulate.ThreadID(2); th <= 5; th++ {
		l = append(l, Event{Op: OpThreadStart, Thread: th, Value: 1})
	}
	const lock, table = 0x10000, 0x20000
	for len(l) < n {
		th := emulate.ThreadID(2 + r.Intn(4))
		own := emulate.Addr(0x100000 * uint64(th))
		locked := r.Intn(8) == 0
		if locked {
			l = append(l, Event{Op: OpAccess, Kind: Update, Flags: Atomic, Thread: th, Addr: lock, N: 4})
			for a := emulate.Addr(0); a < 64; a += 8 {
				l = append(l, Event{Op: OpAccess, Kind: Update, Thread: th, Addr: lock + 64 + a, N: 8, PC: 7})
			}
		}
		// Walk along a row of the table and along some memory of its own,
		// and touch a few words at random.
		row, mine := emulate.Addr(r.Intn(64)), emulate.Addr(r.Intn(256))
		for i := 0; i < 200; i++ {
			e := Event{Op: OpAccess, Kind: Read, Thread: th, PC: uint64(i % 16), N: 8}
			switch i % 4 {
			case 0:
				e.Addr = table + row*512 + emulate.Addr(i/4)*8
			case 1:
				e.Addr, e.N = own+mine*128+emulate.Addr(i/4)*4, 4
			case 2:
				e.Kind = Write
				e.Addr, e.N = own+mine*128+emulate.Addr(i/4)*4, 4
			case 3:
				e.Addr, e.N = own+emulate.Addr(r.Intn(16))*4, 4
				if i%8 == 7 {
					e.Addr = table + emulate.Addr(r.Intn(4096))*8
				}
			}
			l = append(l, e)
		}
		if locked {
			l = append(l, Event{Op: OpAccess, Kind: Write, Thread: th, Addr: lock, N: 4})
		}
	}
	return l
}

func benchFeed(b *testing.B, events []Event) {
	d := New(Config{})
	for i := range events {
		d.Feed(&events[i])
	}
	events = events[5:]
	b.ReportAllocs()
	b.ResetTimer()
	for i, j := 0, 0; i < b.N; i++ {
		d.Feed(&events[j])
		if j++; j == len(events) {
			j = 0
		}
	}
	if n := len(d.Candidates()); n > 0 {
		b.Fatalf("%d candidates", n)
	}
}

func BenchmarkFeedMixed(b *testing.B) { benchFeed(b, benchEvents(1<<20)) }

func BenchmarkFeedSameEpoch(b *testing.B) {
	var l []Event
	for i := 0; i < 5; i++ {
		l = append(l, Event{Op: OpThreadStart, Thread: emulate.ThreadID(i + 1)})
	}
	for i := 0; i < 4096; i++ {
		l = append(l, Event{Op: OpAccess, Kind: Write, Thread: 1, Addr: emulate.Addr(i * 8), N: 8})
	}
	benchFeed(b, l)
}

func BenchmarkFeedMutex(b *testing.B) {
	var l []Event
	for i := 0; i < 5; i++ {
		l = append(l, Event{Op: OpThreadStart, Thread: emulate.ThreadID(i + 1)})
	}
	for i := 0; i < 4096; i++ {
		th := emulate.ThreadID(i%4 + 1)
		l = append(l, Event{Op: OpAccess, Kind: Update, Flags: Atomic, Thread: th, Addr: 64, N: 4},
			Event{Op: OpAccess, Kind: Update, Thread: th, Addr: 128, N: 8},
			Event{Op: OpAccess, Kind: Write, Thread: th, Addr: 64, N: 4})
	}
	benchFeed(b, l)
}

func BenchmarkFeedRacing(b *testing.B) {
	d := New(Config{})
	for i := 0; i < b.N; i++ {
		d.Feed(&Event{Op: OpAccess, Kind: Update, Thread: emulate.ThreadID(i%4 + 1), Addr: 64, N: 4, PC: 9})
	}
}

func BenchmarkAllocFree(b *testing.B) {
	d := New(Config{})
	d.ThreadStart(1, 0)
	for i := 0; i < b.N; i++ {
		a := emulate.Addr(0x10000 + i%1000*64)
		d.Alloc(1, a, 48, 1, 0)
		d.Access(&Access{Thread: 1, Addr: a, Size: 8, Kind: Write})
		d.Free(1, a, 0, 0, 0)
	}
}
