package detect

import (
	"math/rand"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/races"
)

func TestLogReturnsWhatWasPutIn(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var l eventLog
	var want []races.Event
	for range 3_000_000 {
		e := races.Event{Op: races.Op(r.Intn(32)), Kind: races.Kind(r.Intn(5)), Flags: races.Flags(r.Intn(256) &^ 3), Scope: races.Scope(r.Intn(3)),
			Object: races.ObjectKind(r.Intn(6)), Mode: races.LockMode(r.Intn(4)), Typed: r.Intn(2) == 0, Blind: r.Intn(2) == 0, Thread: emulate.ThreadID(r.Intn(9)), Ctx: r.Uint32() >> r.Intn(32),
			Addr: emulate.Addr(r.Uint64() >> r.Intn(64)), N: r.Uint64() >> r.Intn(64), PC: r.Uint64() >> 16, Value: r.Uint64() >> r.Intn(64),
			Count: emulate.Count(r.Uint64() >> r.Intn(64))}
		want = append(want, e)
		l.add(&e)
	}
	i := 0
	var d logDecoder
	for {
		c, ok := l.take(true)
		if !ok {
			break
		}
		d.each(c, func(e *races.Event) {
			if *e != want[i] {
				t.Fatalf("event %d is %+v, not %+v", i, *e, want[i])
			}
			i++
		})
	}
	if l.size != 0 {
		t.Errorf("%d bytes are left", l.size)
	}
	if i != len(want) {
		t.Fatalf("%d events, not %d", i, len(want))
	}
}
