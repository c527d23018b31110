package races

import (
	"reflect"
	"testing"

	"github.com/racesim/racesim/emulate"
)

// Threads sweep over one array, part by part, each part under a lock of its own.
func sweep(p *Predictor, rounds, words int) {
	s := &predScript{Predictor: p}
	s.start(2, 3, 4)
	s.Feed(&Event{Op: OpWait, Thread: 1, Value: 2})
	for r := range rounds {
		for th := emulate.ThreadID(2); th <= 4; th++ {
			for part := range 4 {
				s.acq(th, lockA+emulate.Addr(part*64))
				for w := range words {
					a := emulate.Addr(1<<20 + (part*words+w)*8)
					s.pc = uint64(r)
					s.r(th, a)
					s.w(th, a)
				}
				s.rel(th, lockA+emulate.Addr(part*64))
			}
		}
	}
}

func TestPredictorKeepsOnlyWhatCanRace(t *testing.T) {
	p := NewPredictor(PredictConfig{Memory: 8 << 20})
	sweep(p, 40, 2048)
	if g := p.Given(); g != (Given{}) {
		t.Errorf("%+v was given up, and nothing had to be", g)
	}
	if len(p.clocks) > 10_000 {
		t.Errorf("%d clocks: each word that is handed on has one", len(p.clocks))
	}
}

func TestPredictorIsBounded(t *testing.T) {
	for _, c := range []struct {
		name   string
		memory int64
		ended  bool
	}{{"forgets_accesses", 24 << 20, false}, {"ends", 4 << 20, true}} {
		t.Run(c.name, func(t *testing.T) {
			p := NewPredictor(PredictConfig{Memory: c.memory})
			s := &predScript{Predictor: p}
			s.start(2, 3)
			for i := range 2_000_000 { // what nobody hands on
				s.pc = uint64(i)
				s.w(2+emulate.ThreadID(i%2), emulate.Addr(1<<20+i%(1<<16)*8*2+i%2*8))
			}
			g := p.Given()
			if g.Ended != c.ended || g.History == 0 {
				t.Errorf("%+v was given up", g)
			}
			if b := p.used + p.clockBytes(); !c.ended && b > c.memory*3/2 {
				t.Errorf("%d bytes are kept, of at most %d", b, c.memory)
			}
		})
	}
}

func TestPredictorKeepsWhatItNeeds(t *testing.T) {
	s := &predScript{Predictor: NewPredictor(PredictConfig{})}
	s.w(1, X)
	s.start(2, 3)
	s.acq(2, lockA)
	s.w(2, Y)
	s.rel(2, lockA)
	s.acq(3, lockA)
	s.r(3, Y)
	s.rel(3, lockA)
	show := func() (out [][]uint32) {
		for _, th := range s.slots {
			for _, n := range []clockNum{th.knows, th.must} {
				out = append(out, append([]uint32(nil), s.clocks[n]...))
			}
		}
		return out
	}
	before := show()
	s.freeClocks()
	if after := show(); !reflect.DeepEqual(before, after) {
		t.Errorf("threads knew %v, and know %v now", before, after)
	}
}
