package overlay

// What two threads do once between them, whichever comes first, both may do in
// another order: open a file that neither finds open. The recording has one
// opening. A second one of the same file gives a descriptor, too (POSIX.1-2017,
// open): its number is another than all in use, and nothing more is known of it.

// lentBase is where numbers of such descriptors begin: no program that is
// recorded has so many.
const lentBase = 1 << 20

// maxPath is the length of the longest path that Linux takes, in bytes (limits.h).
const maxPath = 4096

// reopens are the openings of a run that the recording has once.
type reopens struct {
	used map[*Input]bool // recorded openings that somebody had the number of
	made map[int32]bool  // numbers given to others
}

// path returns a system call's path, if it opens a file and neither makes nor
// empties it.
func (p *participant) opens(nr uint64, args [6]uint64) (path string, ok bool) {
	c := Call{NR: nr, Args: args}
	at := args[1]
	switch nr {
	case sysOpen:
		at = args[0]
	case sysOpenat:
	default:
		return "", false
	}
	if !c.Inward() {
		return "", false
	}
	var text []byte
	for len(text) < maxPath {
		n := at + uint64(len(text))
		b, ok := p.peek(n)
		if !ok { // only the kernel read it
			w, known := p.ask(n &^ 7)
			if !known {
				return "", false
			}
			b = byte(w >> (8 * (n & 7)))
		}
		if b == 0 {
			return string(text), len(text) > 0
		}
		text = append(text, b)
	}
	return "", false
}

// reopen answers the opening of a file that another participant opens in the
// recording. in is the participant's own recorded call, if this is one. It returns
// the number, and false if nothing is known.
func (p *participant) reopen(nr uint64, args [6]uint64, in *Input) (fd uint64, ok bool) {
	if len(p.run.parts) < 2 || p.run.directed {
		return 0, false
	}
	path, ok := p.opens(nr, args)
	if !ok {
		return 0, false
	}
	o := &p.run.reopens
	if o.used == nil {
		o.used, o.made = map[*Input]bool{}, map[int32]bool{}
	}
	if in != nil {
		if !o.used[in] || int64(in.Ret) < 0 {
			o.used[in] = true
			return in.Ret, true
		}
		return p.another(), true
	}
	same := args
	for _, q := range p.run.parts {
		for i := range q.sec.Inputs {
			x := &q.sec.Inputs[i]
			if q == p || x.Kind != InSyscall || x.NR != nr || x.NoExit || int64(x.Ret) < 0 {
				continue
			}
			// All but the place of the path.
			if nr == sysOpen {
				same[0] = x.Args[0]
			} else {
				same[1] = x.Args[1]
			}
			if text, ok := q.opens(nr, x.Args); !ok || text != path || same[0] != x.Args[0] || same[1] != x.Args[1] || same[2] != x.Args[2] {
				continue
			}
			if !o.used[x] {
				o.used[x] = true
				return x.Ret, true
			}
			return p.another(), true
		}
	}
	return 0, false
}

// another returns a number that no descriptor has.
func (p *participant) another() uint64 {
	n := int32(lentBase + len(p.run.reopens.made))
	p.run.reopens.made[n] = true
	p.assumed++
	return uint64(n)
}
