package funcs

import "github.com/racesim/racesim/emulate"

// Stack renders a call path with the thread at pc, innermost first, inlined
// functions expanded. It has at least one frame. Of a recursion it has only
// the first rounds: see StackOf.
func (t *Tree) Stack(id NodeID, pc emulate.Addr) []Frame {
	s := stack{t: t}
	for {
		n := t.Node(id)
		if !s.add(id, pc) || n.Parent == 0 {
			return s.out
		}
		s.caller(n.Signal)
		id, pc = n.Parent, n.Site
	}
}

// StackOf renders the stack of a thread that is at pc, all of it.
func (t *Tree) StackOf(calls *Tracker, pc emulate.Addr) []Frame {
	s := stack{t: t}
	for level := 0; level < calls.Depth(); level++ {
		a := calls.Level(level)
		if !s.add(a.Node, pc) {
			break
		}
		if level+1 < calls.Depth() {
			s.caller(a.Signal)
		}
		pc = a.Site
	}
	return s.out
}

// A stack is one that is being rendered.
type stack struct {
	t      *Tree
	out    []Frame
	signal bool // a handler interrupted what comes next
}

// caller says that what comes next called what was there, or was interrupted
// by it.
func (s *stack) caller(signal bool) { s.signal = signal }

func (s *stack) append(fs ...Frame) {
	for _, f := range fs {
		f.Interrupted, s.signal = s.signal, false
		s.out = append(s.out, f)
	}
}

// add adds the function at pc, reached by the call path id, and those by which
// it was reached with jumps. It returns false if there is nothing further out.
func (s *stack) add(id NodeID, pc emulate.Addr) bool {
	t := s.t
	if t.ms == nil {
		s.append(Frame{Function: pc.String(), PC: pc})
		return id != 0
	}
	s.append(t.ms.Frames(pc)...)
	if id == 0 {
		return false
	}
	// A function that ended in a jump to the one at pc left no return address,
	// but the path knows it.
	if f := t.node(id).fn; f != nil && !f.Contains(pc) && !f.PLT {
		if g := t.ms.FuncAt(pc); g != nil && g.Name != f.Name {
			s.append(t.tailFrames(f, g)...)
		}
	}
	return true
}

// tailFrames are the frames of the functions by which control jumped from one
// to another, innermost first.
func (t *Tree) tailFrames(from, to *Func) []Frame {
	l := t.tailPath(from, to)
	if len(l) == 0 {
		return []Frame{{Function: from.Name, Module: from.Module.Path, Runtime: from.Runtime, Library: from.Library, PC: from.Entry, Offset: uint64(from.Entry) - from.Module.bias}}
	}
	var out []Frame
	for i := len(l) - 1; i >= 0; i-- {
		out = append(out, t.ms.Frames(l[i].pc)...)
	}
	return out
}
