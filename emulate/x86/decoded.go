package x86

import (
	"bytes"
	"sync"
)

// Decoded keeps what blocks of code decode to, for all BlockCaches made with
// it. A trace is replayed in pieces by many Threads, each with a BlockCache of
// its own, since each may know other code and stop at other places; what the
// same bytes at the same address mean is the same for all of them. It is safe
// for concurrent use.
type Decoded struct {
	mu sync.RWMutex
	m  map[uint64]*decoded // by pc
}

// A decoded is a block of one page, without the places where somebody wants to
// stop. It is immutable.
type decoded struct {
	code []byte
	ops  []Op
	n    uint64
	succ [2]uint64
}

// maxDecoded bounds the blocks kept. One takes about 500 bytes.
const maxDecoded = 1 << 17

// NewDecoded returns an empty Decoded.
func NewDecoded() *Decoded { return &Decoded{m: map[uint64]*decoded{}} }

// NewBlockCache returns an empty cache that takes from d what is there.
func (d *Decoded) NewBlockCache() *BlockCache {
	bc := NewBlockCache()
	bc.shared = d
	return bc
}

// find returns what the code at pc decodes to, nil if that isn't known. code
// are the bytes from pc on.
func (d *Decoded) find(pc uint64, code []byte) *decoded {
	d.mu.RLock()
	x := d.m[pc]
	d.mu.RUnlock()
	if x == nil || len(code) < len(x.code) || !bytes.Equal(code[:len(x.code)], x.code) {
		return nil
	}
	return x
}

// add keeps b, which was made of code.
func (d *Decoded) add(b *block, code []byte) {
	x := &decoded{code: bytes.Clone(code), ops: b.ops, n: b.n, succ: b.succ}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.m) < maxDecoded || d.m[b.pc] != nil {
		d.m[b.pc] = x
	}
}

// breaks says whether somebody wants to stop at an instruction of x but the
// first.
func (x *decoded) breaks(at map[uint64]bool) bool {
	if len(at) == 0 {
		return false
	}
	for i := uint64(1); i < x.n; i++ {
		if at[x.ops[i].pc] {
			return true
		}
	}
	return false
}
