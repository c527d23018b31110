package racesim

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races/detect"
)

// maxOthers bounds the threads asked for memory that a section doesn't know.
const maxOthers = 16

// world is the recording as it was when a thread executed an instruction.
func (a *analysis) world(t emulate.ThreadID, c emulate.Count) loadsub.World {
	w := &elsewhere{a: a, t: t, c: c}
	return loadsub.World{Quiet: a.quiet, Name: a.name, Canon: detect.Canon(a.t.s), Elsewhere: w.line, Unmapped: a.unmapped, Code: a.code, Fatal: a.fatal}
}

// An elsewhere tells what all threads together know of memory at an instant.
type elsewhere struct {
	a *analysis
	t emulate.ThreadID
	c emulate.Count

	asked   bool
	threads []*replay.Thread
	all     bool // nobody was left out
	min     uint64
	maps    []replay.Mapping
}

func (w *elsewhere) ask() {
	w.asked, w.all = true, true
	for _, id := range w.a.t.s.Threads() {
		n := w.a.before(id, w.t, w.c)
		if n == 0 {
			continue
		}
		if len(w.threads) == maxOthers {
			w.all = false
			break
		}
		u, _, err := w.a.pass.Seek(id, n)
		if err != nil {
			w.all = false
			continue
		}
		if id == w.t {
			w.min = u.Min()
		}
		w.threads = append(w.threads, u)
	}
}

// line returns what is known of a line, and which bytes of it.
func (w *elsewhere) line(line uint64) (*[64]byte, uint64) {
	if !w.asked {
		w.ask()
	}
	// What several threads know must agree: some of it may be stale.
	var got *[64]byte
	known := uint64(0)
	for _, u := range w.threads {
		d := u.Memory().Line(line)
		switch {
		case d == nil:
		case got == nil:
			copy := *d
			got, known = &copy, ^uint64(0)
		default:
			for i := range d {
				if d[i] != got[i] {
					known &^= 1 << i
				}
			}
		}
	}
	if got == nil && w.all {
		return w.untouched(line)
	}
	return got, known
}

// untouched returns what a line holds that no thread has touched: every access
// makes it known to somebody, so it is as it was mapped.
func (w *elsewhere) untouched(line uint64) (*[64]byte, uint64) {
	addr := line << 6
	if w.a.pass.KernelWrote(addr) {
		return nil, 0
	}
	if d, ok := w.a.ms.InitialLine(line); ok {
		return &d, ^uint64(0)
	}
	if w.maps == nil {
		w.maps = w.a.t.s.Mappings(w.min)
	}
	for i := range w.maps {
		m := &w.maps[i]
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
	var out []byte
	for line := pc >> 6; line <= (pc|0xfff)>>6; line++ {
		d, ok := a.ms.InitialLine(line)
		if !ok {
			break
		}
		out = append(out, d[:]...)
	}
	if len(out) <= int(pc&63) {
		return nil
	}
	return out[pc&63:]
}

// fatal are functions of the run-time that end the program because something is
// wrong.
var fatal = map[string]bool{"abort": true, "__assert_fail": true, "__stack_chk_fail": true, "__fortify_fail": true, "__libc_message": true,
	"malloc_printerr": true, "__libc_fatal": true, "std::terminate": true, "__cxa_pure_virtual": true}

// fatal names such a function, by its entry.
func (a *analysis) fatal(target uint64) string {
	if f := a.ms.FuncAt(emulate.Addr(target)); f != nil && f.Runtime && fatal[f.Name] {
		return f.Name
	}
	return ""
}
