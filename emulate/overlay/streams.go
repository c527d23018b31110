package overlay

import "slices"

// What goes into the buffer of a stream is what the program puts out, sooner or
// later, while the place that it gets there depends on what others put out
// before. So each participant's text is an output, and the buffer isn't.
//
// Streams are known by glibc's layout of FILE (struct_FILE.h, the same since
// version 2.1).
const (
	fileBufBase = 0x38
	fileBufEnd  = 0x40
	fileChain   = 0x68
	fileNumber  = 0x70
)

// Bounds of what is kept.
const (
	maxStreams = 16
	maxText    = 4096 // bytes per participant and stream
)

// A stream is a FILE.
type stream struct {
	file   uint64
	fd     int32
	lo, hi uint64 // its buffer; 0: none yet
}

// A Text is what a participant put into the buffer of a stream.
type Text struct {
	FD   int // -1: not known
	Data []byte
	More bool // there was more than is kept
}

// A page of text is what was stored since the buffer was emptied last; functions
// that copy store the same byte more than once, and not from left to right.
type page struct {
	fd   int
	done []byte
	cur  map[uint64]byte
	more bool
}

// Streams says where streams are: FILEs by address, and the word that begins
// the list of all, 0 if unknown. It must come after what the run begins with
// was Set.
func (r *Run) Streams(list uint64, files []uint64) {
	for _, p := range r.parts {
		p.findStreams(list, files)
	}
}

func (p *participant) findStreams(list uint64, files []uint64) {
	if at, ok := p.glance(list); ok && list != 0 {
		for n := 0; at != 0 && n < maxStreams; n++ {
			p.addStream(at)
			if at, ok = p.glance(at + fileChain); !ok {
				break
			}
		}
	}
	for _, f := range files {
		p.addStream(f)
	}
}

func (p *participant) addStream(file uint64) {
	for i := range p.streams {
		if p.streams[i].file == file {
			return
		}
	}
	if len(p.streams) == maxStreams {
		return
	}
	s := stream{file: file, fd: -1}
	if v, ok := p.glance(file + fileNumber); ok {
		s.fd = int32(v)
	}
	p.streams = append(p.streams, s)
	p.buffer(&p.streams[len(p.streams)-1])
}

// buffer looks where a stream's buffer is.
func (p *participant) buffer(s *stream) {
	lo, okLo := p.glance(s.file + fileBufBase)
	hi, okHi := p.glance(s.file + fileBufEnd)
	if s.lo, s.hi = lo, hi; !okLo || !okHi || hi < lo {
		s.lo, s.hi = 0, 0
	}
}

// glance reads 8 bytes without resolving what isn't known to the participant,
// except from elsewhere.
func (p *participant) glance(addr uint64) (uint64, bool) {
	if v, ok := p.peekWord(addr); ok {
		return v, true
	}
	if p.run.elsewhere == nil || addr == 0 {
		return 0, false
	}
	var v uint64
	for i := uint64(0); i < 8; i++ {
		b, ok := p.peek(addr + i)
		if !ok {
			d, known := p.run.elsewhere((addr + i) >> 6)
			if d == nil || known>>((addr+i)&63)&1 == 0 {
				return 0, false
			}
			b = d[(addr+i)&63]
		}
		v |= uint64(b) << (8 * i)
	}
	return v, true
}

// text takes a store to a stream's buffer, and reports whether it was one.
func (p *participant) text(addr uint64, size int, v uint64) bool {
	for i := range p.streams {
		s := &p.streams[i]
		if addr < s.lo || addr >= s.hi {
			continue
		}
		p.say(int(s.fd), addr, size, v)
		return true
	}
	return false
}

func (p *participant) say(fd int, addr uint64, size int, v uint64) {
	var t *page
	for _, x := range p.texts {
		if x.fd == fd {
			t = x
		}
	}
	if t == nil {
		t = &page{fd: fd, cur: map[uint64]byte{}}
		p.texts = append(p.texts, t)
	}
	for i := uint64(0); i < uint64(size); i++ {
		b := byte(v >> (8 * i))
		if old, ok := t.cur[addr+i]; ok && old != b {
			t.turn()
		}
		if len(t.done)+len(t.cur) >= maxText {
			t.more = true
			return
		}
		t.cur[addr+i] = b
	}
}

// turn ends a page.
func (t *page) turn() {
	at := make([]uint64, 0, len(t.cur))
	for a := range t.cur {
		at = append(at, a)
	}
	slices.Sort(at)
	for _, a := range at {
		t.done = append(t.done, t.cur[a])
	}
	clear(t.cur)
}

// emptied says that a system call wrote out what was in buffers.
func (r *Run) emptied() {
	for _, p := range r.parts {
		for _, t := range p.texts {
			t.turn()
		}
	}
}

func (p *participant) said() []Text {
	var out []Text
	for _, t := range p.texts {
		t.turn()
		out = append(out, Text{FD: t.fd, Data: t.done, More: t.more})
	}
	slices.SortFunc(out, func(x, y Text) int { return x.FD - y.FD })
	return out
}

// flushes reports whether a system call writes out a stream's buffer: who put
// what there is known already.
func (p *participant) flushes(nr uint64, args [6]uint64) bool {
	for i := range p.streams {
		if s := &p.streams[i]; nr == sysWrite && args[1] >= s.lo && args[1] < s.hi {
			return true
		}
	}
	return false
}

// moved looks for a new buffer after a store to a FILE.
func (p *participant) moved(addr uint64, size int) {
	for i := range p.streams {
		s := &p.streams[i]
		if addr+uint64(size) > s.file+fileBufBase && addr < s.file+fileBufEnd+8 {
			p.buffer(s)
		}
	}
}
