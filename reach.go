package racesim

import (
	"encoding/binary"
	"sort"

	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races/detect"
)

// lost returns the blocks that were still allocated when the process ended,
// united by the place of their allocation, and says of each whether something
// still points to it. Blocks of the run-time are left out.
func (a *analysis) lost() []checkers.Block {
	r := newReach(a)
	r.mark()
	leader := r.leaders()
	type key struct {
		ctx       uint32
		site      uint64
		reachable bool
	}
	// To say where costs a replay; nobody may ask about blocks in use.
	wanted := a.o.Rules.Setting("leak").Options["reachable"] != 0 || a.o.Rules.Wants("blocks")
	index := map[key]int{}
	var out []checkers.Block
	slot := func(b *detect.Block, reachable bool) *checkers.Block {
		k := key{b.Ctx, b.Site, reachable}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			x := checkers.Block{Addr: uint64(b.Addr), Thread: uint32(b.Thread), Reachable: reachable}
			if !reachable || wanted {
				x.Position, x.AllocatedAt = a.positionOf(b.Thread, b.Count), a.ownFrames(b.Ctx, b.Site)
			}
			out = append(out, x)
		}
		return &out[i]
	}
	for i := range r.blocks {
		b := &r.blocks[i]
		switch {
		case b.Own:
		case r.marked[i]:
			x := slot(b, true)
			x.Count++
			x.Size += b.Size
		case leader[i] == i:
			x := slot(b, false)
			x.Count++
			x.Size += b.Size
		}
	}
	for i := range r.blocks {
		if l := leader[i]; !r.marked[i] && !r.blocks[i].Own && l != i {
			x := slot(&r.blocks[l], false)
			x.HeldCount++
			x.HeldSize += r.blocks[i].Size
		}
	}
	return out
}

// A reach finds out what the memory of a process at its end points to.
//
// Roots are the registers and the used part of the stacks of threads that were
// alive, their control blocks and thread-local variables, all mapped memory
// that isn't an allocator's, and blocks of the run-time. An aligned word that
// holds an address inside a block is a pointer to it.
type reach struct {
	a      *analysis
	blocks []detect.Block // live, by address
	marked []bool
	queue  []int
	heaps  []region // memory that allocators manage: only blocks count
	stacks []region
	main   region   // the main thread's stack
	soft   []region // the run-time's own data: only pointers to the beginning of blocks count
	live   []*detect.ThreadTrack
	dead   []*detect.ThreadTrack
}

type region struct{ lo, hi uint64 }

func inRegions(rs []region, a uint64) bool {
	for _, r := range rs {
		if a >= r.lo && a < r.hi {
			return true
		}
	}
	return false
}

// Layout of glibc's malloc (malloc/malloc.c, malloc/arena.c, release 2.36): a
// chunk's header precedes its block by 16 bytes, its second word is the size
// with flags in the low bits; arenas other than the main one consist of heaps
// at multiples of 64 MiB.
const (
	chunkHeader = 16
	flagMmapped = 2
	flagArena   = 4
	arenaHeap   = 64 << 20
	redZone     = 128 // bytes below RSP that are in use (System V ABI, AMD64, 3.2.2)
)

func newReach(a *analysis) *reach {
	r := &reach{a: a}
	maps := a.t.s.Mappings(^uint64(0))
	for _, b := range a.pass.Heap.Live() {
		// With its memory, a block is gone: execve has that effect.
		i := sort.Search(len(maps), func(i int) bool { return uint64(maps[i].Addr)+maps[i].N > uint64(b.Addr) })
		if i < len(maps) && maps[i].Addr <= b.Addr {
			r.blocks = append(r.blocks, b)
		}
	}
	sort.Slice(r.blocks, func(i, j int) bool { return r.blocks[i].Addr < r.blocks[j].Addr })
	r.marked = make([]bool, len(r.blocks))
	for _, id := range a.t.s.Threads() {
		tt := a.pass.Threads[id]
		switch {
		case tt.End == nil:
		case tt.Exited:
			r.dead = append(r.dead, tt)
		default:
			r.live = append(r.live, tt)
		}
	}
	first := ^uint64(0)
	a.pass.Heap.Known(func(b *detect.Block) { first = min(first, uint64(b.Addr)-chunkHeader) })
	for _, m := range maps {
		lo, hi := uint64(m.Addr), uint64(m.Addr)+m.N
		switch m.Path {
		case "[heap]":
			// What precedes the first block, a static program's thread-local
			// variables for one, isn't the allocator's.
			if first >= lo && first < hi {
				lo = first
			}
			r.heaps = append(r.heaps, region{lo, hi})
		case "[stack]":
			r.stacks = append(r.stacks, region{lo, hi})
			if r.main.hi == lo {
				lo = r.main.lo // it grew
			}
			r.main = region{lo, hi}
		}
	}
	for i := range r.blocks {
		at := uint64(r.blocks[i].Addr)
		if inRegions(r.heaps, at) {
			continue
		}
		if h, ok := r.word(at - 8); ok && h&flagArena != 0 && h&flagMmapped == 0 {
			lo := at &^ (arenaHeap - 1)
			r.heaps = append(r.heaps, region{lo, lo + arenaHeap})
		}
	}
	for _, l := range [][]*detect.ThreadTrack{r.live, r.dead} {
		for _, tt := range l {
			if tt.Stack != 0 {
				r.stacks = append(r.stacks, region{tt.Stack, tt.StackEnd})
			}
		}
	}
	return r
}

// word reads 8 bytes as they were at the end.
func (r *reach) word(addr uint64) (uint64, bool) {
	for _, l := range [][]*detect.ThreadTrack{r.live, r.dead} {
		for _, tt := range l {
			if d := r.view(tt, addr>>6); d != nil {
				return binary.LittleEndian.Uint64(d[addr&63:]), true
			}
		}
	}
	return 0, false
}

// view returns a line of a thread's memory, nil if somebody else knows better
// what it holds.
func (r *reach) view(tt *detect.ThreadTrack, line uint64) *[64]byte {
	if w := r.a.pass.Heap.Writer(line); w != 0 && w != tt.ID {
		return nil
	}
	d, _ := tt.End.KnownLine(line)
	return d
}

// find returns the block that holds a, or -1.
func (r *reach) find(a uint64) int {
	i := sort.Search(len(r.blocks), func(i int) bool { return uint64(r.blocks[i].Addr) > a }) - 1
	if i >= 0 && a < uint64(r.blocks[i].Addr)+max(r.blocks[i].Size, 1) {
		return i
	}
	return -1
}

// point follows a word. soft says that it is the run-time's own.
func (r *reach) point(v uint64, soft bool) {
	n := len(r.blocks)
	if n == 0 || v < uint64(r.blocks[0].Addr) || v >= uint64(r.blocks[n-1].Addr)+max(r.blocks[n-1].Size, 1) {
		return
	}
	if i := r.find(v); i >= 0 && !r.marked[i] && (!soft || v == uint64(r.blocks[i].Addr)) {
		r.marked[i] = true
		r.queue = append(r.queue, i)
	}
}

// mark finds everything that is reachable.
func (r *reach) mark() {
	for _, tt := range r.live {
		r.stack(tt)
	}
	for _, l := range [][]*detect.ThreadTrack{r.live, r.dead} {
		for _, tt := range l {
			r.data(tt)
		}
	}
	for i := range r.blocks {
		if r.blocks[i].Own && !r.marked[i] {
			r.marked[i] = true
			r.queue = append(r.queue, i)
		}
	}
	for len(r.queue) > 0 {
		i := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		b := &r.blocks[i]
		r.words(uint64(b.Addr), uint64(b.Addr)+b.Size, func(v uint64) { r.point(v, false) })
	}
}

// words calls f with the aligned words in [lo, hi), as everybody knows them
// who may know.
func (r *reach) words(lo, hi uint64, f func(uint64)) {
	for _, l := range [][]*detect.ThreadTrack{r.live, r.dead} {
		for _, tt := range l {
			for line := lo >> 6; line <= (hi-1)>>6 && lo < hi; line++ {
				d := r.view(tt, line)
				if d == nil {
					continue
				}
				for o := uint64(0); o < 64; o += 8 {
					if at := line<<6 + o; at >= lo && at+8 <= hi {
						f(binary.LittleEndian.Uint64(d[o:]))
					}
				}
			}
		}
	}
}

// stack follows a thread's registers and the used part of its stack.
func (r *reach) stack(tt *detect.ThreadTrack) {
	s := tt.End.State()
	sp := s.R[4] - redZone
	regs := s.R[:16]
	// What called exit is what the program was doing; below, the stack holds
	// remains of functions that returned.
	if n, ok := exitLevel(r.a.ms, tt); ok {
		act := tt.EndCalls.Level(n)
		if t, _, err := r.a.pass.Seek(tt.ID, act.Count); err == nil {
			c := &t.CPU().R
			sp = uint64(act.SP)
			regs = []uint64{c[3], c[5], c[12], c[13], c[14], c[15]} // what callees save
		}
	}
	for _, v := range regs {
		r.point(v, false)
	}
	own := r.stackOf(tt)
	if sp >= own.lo && sp < own.hi {
		own.lo = (sp + 7) &^ 7
	}
	// Otherwise it was on a stack of the program's own, which is a block or
	// mapping like others; all of this one may be waiting for its return.
	tt.End.Fork().Pages(func(num uint64, data *[4096]byte, known uint64) bool {
		for at := max(num<<12, own.lo&^7); at < min((num+1)<<12, own.hi); at += 8 {
			if line := at >> 6; at >= own.lo && known>>(line&63)&1 != 0 {
				if w := r.a.pass.Heap.Writer(line); w == 0 || w == tt.ID {
					r.point(binary.LittleEndian.Uint64(data[at&4095:]), false)
				}
			}
		}
		return num<<12 < own.hi
	})
}

// stackOf returns the stack that a thread was created with, and its control
// block.
func (r *reach) stackOf(tt *detect.ThreadTrack) region {
	if tt.Stack != 0 {
		return region{tt.Stack, tt.StackEnd}
	}
	return r.main
}

// exitFuncs are the functions that end a process in order.
var exitFuncs = map[string]bool{"exit": true, "_exit": true, "_Exit": true, "quick_exit": true}

// exitLevel finds the outermost call of such a function in a thread's last stack.
func exitLevel(ms *funcs.Modules, tt *detect.ThreadTrack) (int, bool) {
	for n := tt.EndCalls.Depth() - 1; n >= 0; n-- {
		f := ms.FuncAt(tt.EndCalls.Level(n).Entry)
		if f == nil || !f.Runtime {
			continue
		}
		if exitFuncs[f.Linkage] {
			return n, true
		}
		for _, x := range f.Aliases {
			if exitFuncs[x] {
				return n, true
			}
		}
	}
	return 0, false
}

// data follows all memory that a thread knows and that is neither a stack nor
// an allocator's.
func (r *reach) data(tt *detect.ThreadTrack) {
	maps := r.a.t.s.Mappings(^uint64(0))
	at := func(a uint64) bool {
		i := sort.Search(len(maps), func(i int) bool { return uint64(maps[i].Addr) > a }) - 1
		return i >= 0 && a < uint64(maps[i].Addr)+maps[i].N
	}
	var arena []region // malloc's own data, in a program that contains it
	for _, m := range r.a.ms.All() {
		if m.Static {
			for _, v := range r.a.ms.AddrOfVar("main_arena") {
				arena = append(arena, region{uint64(v.Addr), uint64(v.Addr) + uint64(v.Size)})
			}
			break
		}
	}
	tt.End.Fork().Pages(func(num uint64, data *[4096]byte, known uint64) bool {
		lo := num << 12
		if !at(lo) || inRegions(r.stacks, lo) || inRegions(r.heaps, lo) && inRegions(r.heaps, lo+4095) {
			return true
		}
		m := r.a.ms.ModuleAt(emulate.Addr(lo))
		soft := m != nil && m.Kind != funcs.ModUser
		for l := uint64(0); l < 64; l++ {
			line := num<<6 + l
			if known>>l&1 == 0 {
				continue
			}
			if w := r.a.pass.Heap.Writer(line); w != 0 && w != tt.ID {
				continue
			}
			for o := l << 6; o < (l+1)<<6; o += 8 {
				a := lo + o
				if inRegions(r.heaps, a) || r.chunk(a) {
					continue
				}
				r.point(binary.LittleEndian.Uint64(data[o:]), soft || inRegions(arena, a))
			}
		}
		return true
	})
}

// chunk says whether a is in a block, outside the allocator's regions: one
// with a mapping of its own.
func (r *reach) chunk(a uint64) bool {
	n := len(r.blocks)
	return n > 0 && a >= uint64(r.blocks[0].Addr) && a < uint64(r.blocks[n-1].Addr)+r.blocks[n-1].Size && r.find(a) >= 0
}

// leaders returns for each lost block the one to report: itself, unless other
// lost blocks point to it. Of blocks that point to each other it is one.
func (r *reach) leaders() []int {
	leader := make([]int, len(r.blocks))
	for i := range leader {
		leader[i] = -1
	}
	for i := range r.blocks {
		if r.marked[i] || leader[i] >= 0 {
			continue
		}
		leader[i] = i
		queue := []int{i}
		for len(queue) > 0 {
			k := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			b := &r.blocks[k]
			r.words(uint64(b.Addr), uint64(b.Addr)+b.Size, func(v uint64) {
				j := r.find(v)
				if j < 0 || j == i || r.marked[j] || leader[j] == i {
					return
				}
				if leader[j] < 0 || leader[j] == j {
					leader[j] = i
					queue = append(queue, j)
				}
			})
		}
	}
	// A leader that was overtaken later passes its blocks on.
	for i := range leader {
		for n := 0; leader[i] >= 0 && leader[leader[i]] != leader[i] && n < len(leader); n++ {
			leader[i] = leader[leader[i]]
		}
	}
	return leader
}
