package hwmodel

import "testing"

func TestReadLogNames(t *testing.T) {
	for _, s := range []string{"cache", "page", "none", "last", "zero", "shadow:6", "shadow:28"} {
		l, err := ParseReadLog(s)
		if err != nil || l.String() != s {
			t.Errorf("%q: %v, %v", s, l, err)
		}
	}
	for _, s := range []string{"", "Cache", "shadow", "shadow:", "shadow:5", "shadow:29", "shadow:x", "shadow:-1"} {
		if l, err := ParseReadLog(s); err == nil {
			t.Errorf("%q is taken for %v", s, l)
		}
	}
}

// What a predictor says next depends on nothing but what it was told since it
// began, or was reset.
func TestPredictor(t *testing.T) {
	type step struct {
		store bool
		addr  uint64
		size  int
		v     uint64
		want  uint64 // predicted
		ok    bool
	}
	for name, steps := range map[string][]step{
		"none": {{false, 8, 4, 5, 0, false}, {false, 8, 4, 5, 0, false}},
		"zero": {{false, 8, 4, 5, 0, true}, {false, 8, 4, 5, 0, true}},
		"last": {{false, 8, 8, 0x1234567890, 0, false}, {true, 8, 8, 7, 0, false}, {false, 100, 2, 0x7890, 0x7890, true}, {false, 8, 8, 7, 0x7890, true}},
		"shadow:6": {{false, 8, 4, 5, 0, true}, {false, 8 + 64, 4, 6, 5, true}, {true, 62, 4, 0x04030201, 0, false},
			{false, 64, 2, 9, 0x0403, true}, {false, 190, 4, 1, 0x00090201, true}},
	} {
		l, err := ParseReadLog(name)
		if err != nil {
			t.Fatal(err)
		}
		p := l.Predictor()
		for range 2 {
			for i, s := range steps {
				if s.store {
					p.Stored(s.addr, s.size, s.v)
					continue
				}
				q := p.Clone()
				if v, ok := p.Predict(s.addr, s.size); v != s.want || ok != s.ok {
					t.Errorf("%s, step %d: %#x, %v, expected %#x, %v", name, i, v, ok, s.want, s.ok)
				}
				p.Loaded(s.addr, s.size, s.v)
				if v, ok := q.Predict(s.addr, s.size); v != s.want || ok != s.ok {
					t.Errorf("%s, step %d: a clone says %#x, %v, expected %#x, %v", name, i, v, ok, s.want, s.ok)
				}
			}
			p.Reset()
		}
	}
}
