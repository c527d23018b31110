package racesim

import (
	"iter"
	"maps"
	"slices"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races/detect"
)

// maxOthers bounds the threads asked for memory that a section doesn't know.
const maxOthers = 16

// world is the recording as it was when a thread executed an instruction.
func (a *analysis) world(t emulate.ThreadID, c emulate.Count) loadsub.World {
	w := &elsewhere{a: a, t: t, c: c}
	rt := a.runtime()
	world := loadsub.World{Spent: &a.spent, Quiet: a.quiet, Name: a.name, Scalar: a.scalar, Canon: detect.Canon(a.t.s), Elsewhere: w.line, Unmapped: a.unmapped, Code: a.code, Fatal: a.fatal, Internal: a.ownStore,
		Answers: a.o.Answers, Heap: a.heapCall, Jumps: rt.jumps, BlockSize: a.blockSize, Family: a.family, Inside: w.inside, Lock: a.lockCall, Edges: w.edges, StreamList: rt.list, Streams: rt.streams}
	if world.Watch = a.watch(); world.Watch != nil {
		world.Check = a.checkAgain
	}
	world.Weigh = a.o.Rules.Weighs
	a.schedules(&world)
	return world
}

// scalar returns the number or pointer that holds the byte at addr, as the type
// of the variable says.
func (a *analysis) scalar(addr uint64) (loadsub.Scalar, bool) {
	for size := uint64(8); size > 0; size /= 2 {
		base := addr &^ (size - 1)
		v, ok := a.ms.VarAtSize(emulate.Addr(base), int(size))
		if !ok || v.Place == nil {
			continue
		}
		switch t := v.Place; {
		case t.Kind == funcs.TypeStruct || t.Kind == funcs.TypeArray || t.Size != int64(size):
		default:
			return loadsub.Scalar{Addr: base, Size: int(size), Float: t.Kind == funcs.TypeFloat}, true
		}
	}
	return loadsub.Scalar{}, false
}

// A runtimeData is what experiments need to know of the C library.
type runtimeData struct {
	jumps   []uint64 // allocator functions that are jumped to
	locks   map[emulate.Addr]overlay.LockCall
	threads map[emulate.Addr]overlay.ThreadCall
	glibc   bool     // its allocator is the one in use
	list    uint64   // the word that begins the list of streams; 0: unknown
	streams []uint64 // stdin, stdout, stderr
}

func (a *analysis) runtime() *runtimeData {
	if a.rt != nil {
		return a.rt
	}
	rt := &runtimeData{locks: detect.LockCalls(a.ms), threads: detect.ThreadCalls(a.ms)}
	if m := a.ms.Exported("malloc"); m != nil {
		rt.glibc = m.Module.Kind == funcs.ModLibc || m.Runtime
	}
	for _, m := range []iter.Seq[emulate.Addr]{slices.Values(a.tree.JumpTargets(nil)), maps.Keys(rt.locks), maps.Keys(rt.threads)} {
		for pc := range m { // libraries jump to those for locks through pointers, too
			rt.jumps = append(rt.jumps, uint64(pc))
		}
	}
	if at, ok := a.ms.DataNamed("_IO_list_all"); ok {
		rt.list = uint64(at)
	}
	for _, name := range []string{"_IO_2_1_stdin_", "_IO_2_1_stdout_", "_IO_2_1_stderr_"} {
		if at, ok := a.ms.DataNamed(name); ok {
			rt.streams = append(rt.streams, uint64(at))
		}
	}
	a.rt = rt
	return rt
}

// heapCall says what an allocator's function does, by its entry.
func (a *analysis) heapCall(target uint64) overlay.HeapCall {
	f := a.ms.FuncAt(emulate.Addr(target))
	r, ok := a.ms.Runtime(f)
	if !ok || uint64(f.Entry) != target {
		return 0
	}
	switch r.Alloc {
	case funcs.RoleGo:
		return overlay.HeapGo
	case funcs.RoleMalloc:
		return overlay.HeapAlloc
	case funcs.RoleNew:
		return overlay.HeapAlloc | overlay.HeapNew
	case funcs.RoleNewArray:
		return overlay.HeapAlloc | overlay.HeapNewArray
	case funcs.RoleDelete:
		return overlay.HeapFree | overlay.HeapNew
	case funcs.RoleDeleteArray:
		return overlay.HeapFree | overlay.HeapNewArray
	case funcs.RoleCalloc:
		return overlay.HeapAllocN
	case funcs.RoleRealloc:
		return overlay.HeapRealloc
	case funcs.RoleReallocArray:
		return overlay.HeapReallocN
	case funcs.RoleMemalign:
		return overlay.HeapAligned
	case funcs.RolePosixMemalign:
		return overlay.HeapOut
	}
	if r.Alloc.Frees() {
		return overlay.HeapFree
	}
	return 0
}

// blockSize returns how large the block that begins at an address is, or was
// when it was there.
func (a *analysis) blockSize(addr uint64) uint64 {
	if b := a.pass.Detector.BlockAt(emulate.Addr(addr)); b.ID != 0 && uint64(b.Addr) == addr {
		return b.Size
	}
	return 0
}

// family says by functions of which family the program allocated a block.
func (a *analysis) family(addr uint64) (overlay.HeapCall, bool) {
	b := a.pass.Detector.BlockAt(emulate.Addr(addr))
	if a.heap == nil || b.ID == 0 || uint64(b.Addr) != addr || a.tree.Class(b.Ctx) != 0 {
		return 0, false
	}
	h, ok := a.heap.Last(b.Addr)
	if !ok || h.Count != b.Count || h.Thread != b.Thread {
		return 0, false
	}
	switch h.Role {
	case funcs.RoleNew:
		return overlay.HeapNew, true
	case funcs.RoleNewArray:
		return overlay.HeapNewArray, true
	}
	return 0, true
}

// lockCall says what a function does to a lock, by its entry.
func (a *analysis) lockCall(target uint64) overlay.LockCall {
	locks := a.runtime().locks
	k, ok := locks[emulate.Addr(target)]
	if !ok {
		if f := a.ms.FuncAt(emulate.Addr(target)); f != nil && f.PLT && uint64(f.Entry) == target {
			if x := a.ms.ExportedIn(f.Module.Life, f.Linkage); x != nil {
				k = locks[x.Entry]
			}
		}
		locks[emulate.Addr(target)] = k
	}
	return k
}

// An elsewhere tells what all threads together know of memory at an instant.
type elsewhere struct {
	a *analysis
	t emulate.ThreadID
	c emulate.Count

	crowd *crowd // once it was asked for

	between map[uint64]uint64 // see edges
}

// A crowd are all threads as they were at the end of a recorded slice.
type crowd struct {
	slice   int
	threads []*replay.Thread // whose memory is only read
	all     bool             // nobody was left out
	min     uint64
	maps    []replay.Mapping
	lines   map[uint64]knownLine // that were asked for
}

// A knownLine has bytes of a line, and a bit for each that is known.
type knownLine struct {
	data *[64]byte
	mask uint64
}

// maxCrowds is the number of crowds kept: experiments are about the same
// instants again and again.
const maxCrowds = 4

// block returns the last block that held an address, if it was there at the
// instant.
func (w *elsewhere) block(addr uint64) (lo, hi uint64, ok bool) {
	b := w.a.pass.Detector.BlockAt(emulate.Addr(addr))
	if b.ID == 0 || !w.a.order(b.Thread, b.Count, w.t, w.c) {
		return 0, 0, false
	}
	if b.Freed {
		h, known := w.a.heap.Last(b.Addr)
		if !known || h.Count != b.Count || h.Thread != b.Thread || !h.Freed || !w.a.order(w.t, w.c, h.FreeThread, h.FreeCount) {
			return 0, 0, false
		}
	}
	return uint64(b.Addr), uint64(b.Addr) + b.Size, true
}

// inside returns the block that an address is in the middle of, 0: none.
func (w *elsewhere) inside(addr uint64) uint64 {
	if lo, _, ok := w.block(addr); ok && lo < addr {
		return lo
	}
	return 0
}

// edges returns the bytes of a line that lie right behind a block and belong to
// no other: what is left of the room of its chunk (glibc), or up to the next
// word.
func (w *elsewhere) edges(line uint64) uint64 {
	if m, ok := w.between[line]; ok {
		return m
	}
	if w.between == nil {
		w.between = map[uint64]uint64{}
	}
	m := uint64(0)
	for a := line<<6 - 32; a < line<<6+64; {
		lo, hi, ok := w.block(a)
		if !ok {
			a++
			continue
		}
		end := (hi + 7) &^ 7
		if w.a.runtime().glibc {
			end = lo + max(32, (hi-lo+8+15)&^15)
		}
		for a = max(hi, a+1); hi < end; hi++ {
			if _, _, taken := w.block(hi); !taken && hi>>6 == line {
				m |= 1 << (hi & 63)
			}
		}
	}
	w.between[line] = m
	return m
}

// crowdAt returns all threads at the end of the slice in which thread t executed
// instruction c.
func (a *analysis) crowdAt(t emulate.ThreadID, c emulate.Count) *crowd {
	n := a.slice(t, c)
	for i, w := range a.crowds {
		if w.slice == n {
			copy(a.crowds[1:i+1], a.crowds[:i])
			a.crowds[0] = w
			return w
		}
	}
	w := &crowd{slice: n, all: true, lines: map[uint64]knownLine{}}
	for _, id := range a.t.s.Threads() {
		n := a.before(id, t, c)
		if n == 0 {
			continue
		}
		if len(w.threads) == maxOthers {
			w.all = false
			break
		}
		u, _, err := a.pass.Seek(id, n)
		if err != nil {
			w.all = false
			continue
		}
		if id == t {
			w.min = u.Min()
		}
		w.threads = append(w.threads, u)
	}
	if len(a.crowds) < maxCrowds {
		a.crowds = append(a.crowds, nil)
	}
	copy(a.crowds[1:], a.crowds)
	a.crowds[0] = w
	return w
}

// line returns what is known of a line, and which bytes of it. They must not be
// changed.
func (w *elsewhere) line(line uint64) (*[64]byte, uint64) {
	if w.crowd == nil {
		w.crowd = w.a.crowdAt(w.t, w.c)
	}
	l, ok := w.crowd.lines[line]
	if !ok {
		l.data, l.mask = w.look(line)
		w.crowd.lines[line] = l
	}
	return l.data, l.mask
}

func (w *elsewhere) look(line uint64) (*[64]byte, uint64) {
	// What several threads know must agree: some of it may be stale.
	var got *[64]byte
	known, stale := uint64(0), uint64(0)
	for _, u := range w.crowd.threads {
		d, k := u.Memory().KnownLine(line)
		switch {
		case d == nil:
		case got == nil:
			copy := *d
			got, known = &copy, k
		default:
			for i := range d {
				switch bit := uint64(1) << i; {
				case k&bit == 0:
				case known&bit == 0 && stale&bit == 0:
					got[i] = d[i]
					known |= bit
				case d[i] != got[i]:
					known &^= bit
					stale |= bit
				}
			}
		}
	}
	if got == nil && w.crowd.all {
		return w.untouched(line)
	}
	return got, known
}

// untouched returns what a line holds that no thread has touched: every access
// makes it known to somebody, so it is as it was mapped.
func (w *elsewhere) untouched(line uint64) (*[64]byte, uint64) {
	addr := line << 6
	if w.a.pass.KernelWrote(addr) || w.a.t.s.Experiment() != "" || w.a.t.s.Begin() > 0 {
		return nil, 0
	}
	if d := w.a.t.s.Shown(line, w.crowd.min); d != nil {
		return d, ^uint64(0)
	}
	if d, ok := w.a.ms.InitialLine(line); ok {
		return &d, ^uint64(0)
	}
	at := w.crowd
	if at.maps == nil {
		at.maps = w.a.t.s.Mappings(at.min)
	}
	for i := range at.maps {
		m := &at.maps[i]
		if uint64(m.Addr) <= addr && addr < uint64(m.Addr)+m.N && m.Alias == 0 && !m.Shared && (m.Path == "" || m.Path[0] == '[') {
			return new([64]byte), ^uint64(0)
		}
	}
	return nil, 0
}

// unmapped reports whether nothing was ever mapped at an address.
func (a *analysis) unmapped(addr uint64) bool {
	for _, m := range a.t.s.EveryMapping() {
		if uint64(m.Addr) <= addr && addr < uint64(m.Addr)+m.N {
			return false
		}
	}
	return true
}

// code returns the instructions from pc to the end of its page as the module's
// file has them.
func (a *analysis) code(pc uint64) []byte {
	m := a.ms.ModuleAt(emulate.Addr(pc))
	if m == nil {
		return nil
	}
	return a.fileBytes(pc, pc|0xfff)
}

// fileBytes returns what the module's file has from an address on, to the end
// of the line of another one or to the end of the file.
func (a *analysis) fileBytes(from, last uint64) []byte {
	var out []byte
	for line := from >> 6; line <= last>>6; line++ {
		d, ok := a.ms.InitialLine(line)
		if !ok {
			break
		}
		out = append(out, d[:]...)
	}
	if len(out) <= int(from&63) {
		return nil
	}
	return out[from&63:]
}

// fatal are functions of the run-time that end the program because something is
// wrong.
var fatal = map[string]bool{"abort": true, "__assert_fail": true, "__stack_chk_fail": true, "__fortify_fail": true, "__libc_message": true,
	"malloc_printerr": true, "__libc_fatal": true, "std::terminate": true, "__cxa_pure_virtual": true,
	"runtime.throw": true, "runtime.fatal": true, "runtime.fatalthrow": true, "runtime.fatalpanic": true}

// fatal names such a function, by its entry.
func (a *analysis) fatal(target uint64) string {
	if f := a.ms.FuncAt(emulate.Addr(target)); f != nil && f.Runtime && fatal[f.Name] {
		return f.Name
	}
	return ""
}
