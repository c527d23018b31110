//go:build linux && amd64

package x86

import (
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Blocks that are executed often are translated to the host's instructions,
// which are the guest's own with other registers and a look into the window
// before each access. Translated code does what needs no question: everything
// else (a miss, a system call, an instruction that has no translation) leaves it
// before the instruction, with the state as the run loop would have it there, and
// the run loop goes on. So there is one description of what is rare, and
// translated code can be left out at any time: it changes how fast the
// processor is, and nothing else.

const (
	arenaSize  = 32 << 20 // of address space, for one BlockCache
	maxEntered = 1 << 20  // instructions before translated code returns: the garbage collector waits for it
)

// hotBlock is how often a block is executed before it is translated. Tests set
// it to 1, and with translateAll whatever can be translated is.
var (
	hotBlock     uint32 = 160
	translateAll bool
)

// Translate says whether processors may translate code. It is for tests and
// measurements; change it before any processor runs.
var Translate = true

// An arena is memory for translated code. It belongs to one BlockCache.
type arena struct {
	mem    []byte
	used   int
	first  int // what follows the stubs
	leave  uintptr
	flags  uintptr
	fp     uintptr
	broken bool // there is no such memory
}

// nativeBytes counts what is mapped; it bounds all arenas together.
var nativeBytes atomic.Int64

const maxNativeBytes = 1 << 30

// Ways out of translated code, beside the number of an Op to execute.
const (
	wayLimit = -1 // at the block's begin, since not all of it may be executed
	wayNext  = -2 // behind the block, to succ[0]; wayNext-1: to succ[1]
)

// enterNative executes translated code from at. rest is what is left of left
// instructions at the begin of b.
//
//go:noescape
func enterNative(c *CPU, at uintptr, left uint64) (b *block, way int64, rest uint64)

// enter executes translated code of b from at. of is how many instructions
// c.base doesn't count yet that at's block has been entered for.
func (c *CPU) enter(at uintptr, of, end uint64) (*block, int) {
	if limit := c.base + maxEntered; limit < end {
		end = limit
	}
	b, way, rest := enterNative(c, at, end-c.base-of)
	c.base = end - rest
	return b, int(way)
}

// prepare makes the arena. It reports whether there is one.
func (bc *BlockCache) prepare() bool {
	n := &bc.native
	if n.mem != nil || n.broken {
		return !n.broken
	}
	n.broken = true
	if !Translate || nativeBytes.Add(arenaSize) > maxNativeBytes {
		return false
	}
	mem, err := unix.Mmap(-1, 0, arenaSize, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil { // forbidden here
		nativeBytes.Add(-arenaSize)
		return false
	}
	runtime.AddCleanup(bc, func(m []byte) {
		unix.Munmap(m)
		nativeBytes.Add(-int64(arenaSize))
	}, mem)
	n.mem, n.broken = mem, false
	n.stubs()
	return true
}

// forget drops all translated code.
func (bc *BlockCache) forget() {
	for _, b := range bc.blocks {
		b.native, b.resume, b.heat = 0, nil, 0
	}
	bc.native.used = bc.native.first
}

// translate gives b translated code, if it is worth it.
func (bc *BlockCache) translate(c *CPU, b *block) {
	if b.dead || b.brk || b.once || b.fetch || !bc.prepare() {
		return
	}
	n := &bc.native
	for range 2 {
		t := translator{bc: bc, block: b, assembler: assembler{base: uintptr(unsafe.Pointer(&n.mem[n.used]))}}
		if !t.all(c) {
			return
		}
		if n.used+len(t.b) <= len(n.mem) {
			copy(n.mem[n.used:], t.b)
			b.native, b.jumps, b.outs, b.resume = t.base, t.jumps, t.outs, t.resume
			n.used += (len(t.b) + 15) &^ 15
			return
		}
		bc.forget()
	}
}

// join lets b's translated code go straight on to nb's by way k.
func (bc *BlockCache) join(b *block, k int, nb *block) {
	if b.native != 0 && nb.native != 0 && b.jumps[k] != 0 {
		bc.native.patch(b.native+uintptr(b.jumps[k]), nb.native)
	}
}

// part undoes join: by way k, b's translated code is left.
func (bc *BlockCache) part(b *block, k int) {
	if b.native != 0 && b.jumps[k] != 0 {
		bc.native.patch(b.native+uintptr(b.jumps[k]), b.native+uintptr(b.outs[k]))
	}
}

// patch makes the jump whose distance is in the four bytes at address at go to
// an address.
func (n *arena) patch(at, to uintptr) {
	i := at - uintptr(unsafe.Pointer(&n.mem[0]))
	binary.LittleEndian.PutUint32(n.mem[i:], uint32(int64(to)-int64(at)-4))
}

// resumeAfter returns where translated code goes on after op, which the run loop
// has executed; 0: it doesn't.
func (b *block) resumeAfter(op *Op) uintptr {
	if b.resume == nil {
		return 0
	}
	if at := b.resume[op.n+1]; at != 0 {
		return b.native + uintptr(at)
	}
	return 0
}

// op returns Op k.
func (b *block) op(k int) *Op { return &b.ops[k] }
