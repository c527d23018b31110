package detect

import (
	"bytes"
	"encoding/binary"

	"github.com/racesim/racesim/emulate"
)

// Where threads begin and what they are called, for reports.

// An Origin says how a thread came to be.
type Origin struct {
	Parent emulate.ThreadID // 0: it is the first, or another process's
	Ctx    uint32           // of the parent, where it created the thread
	PC     uint64
	Name   string // the last that it was given; "" for none
}

// prSetName is prctl's operation that names the calling thread.
const (
	sysPrctl  = 157
	prSetName = 15
)

// named notes that a thread got the name at addr: the one with that control
// block (pthread_t in glibc and musl), or this one if control is 0. Names have
// at most 15 bytes (prctl(2)).
func (f *follower) named(control, addr uint64) {
	var b [16]byte
	n := f.t.Memory().Read(addr, b[:])
	if ms := f.p.Tree.Modules(); ms != nil && n == 0 {
		n = ms.Constant(emulate.Addr(addr), b[:]) // nobody looked at it yet
	}
	if end := bytes.IndexByte(b[:n], 0); end >= 0 {
		clear(b[end:])
	} else if n < len(b)-1 {
		return // its end isn't known
	}
	b[15] = 0
	f.note(note{kind: noteName, addr: control, size: binary.LittleEndian.Uint64(b[:8]), old: binary.LittleEndian.Uint64(b[8:])})
}

// name gives a thread a name.
func (p *Pass) name(id emulate.ThreadID, n *note) {
	if n.addr != 0 {
		if id = p.Lives.control[n.addr]; id == 0 {
			return
		}
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], n.size)
	binary.LittleEndian.PutUint64(b[8:], n.old)
	if tt := p.Threads[id]; tt != nil {
		tt.Origin.Name = string(bytes.TrimRight(b[:], "\x00"))
	}
}
