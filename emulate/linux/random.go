package linux

// random is a small generator whose numbers will never change with a library:
// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in [0, n); n must be positive.
func (r *random) below(n int) int { return int(r.next() >> 1 % uint64(n)) }

// one reports true once in n.
func (r *random) one(n int) bool { return r.next()>>32%uint64(n) == 0 }

// fill fills b.
func (r *random) fill(b []byte) {
	for i := 0; i < len(b); i += 8 {
		v := r.next()
		for j := i; j < len(b) && j < i+8; j++ {
			b[j] = byte(v)
			v >>= 8
		}
	}
}
