package hwmodel

// A Line is what the model keeps for each line of physical memory. It is kept
// by value beside the bytes, a [64]Line for a page of 4 KiB. The zero value is
// memory that no cache holds, no thread touched and no stream knows. It must
// not be copied or cleared while a cache holds it: see Machine.Discard.
type Line struct {
	// Version is the unique number of the content as far as threads' knowledge
	// goes: who learnt this version knows the line. 0: nobody does. See Knowledge.
	Version uint64

	sharers uint64 // cores whose private caches hold the line, a bit each
	home    uint64 // the first virtual line under which it was touched; chooses cache sets
	first   uint32 // the first thread that touched it; 0: none
	owner   uint8  // the core in a state other than Shared, if state says so
	state   State  // the owner's; Invalid: there is no owner
	flags   lineFlag
	way     uint8 // in the last-level cache, if flagLLC
}

type lineFlag uint8

const (
	flagHome     lineFlag = 1 << iota // home is set
	flagLLC                           // the last-level cache holds the line
	flagKnown                         // at least one (thread, virtual line) may know Version
	flagMany                          // more than one may
	flagTwo                           // at least two threads touched the line
	flagWritten                       // at least one wrote it
	flagReported                      // Touch has said so
	flagCode                          // a code cache may hold the line
)

// State is a coherence state that a core has a line in.
type State uint8

// The states, of all protocols. A core without the line has it Invalid.
const (
	Invalid   State = iota
	Shared          // clean (or an Owned copy is elsewhere), others may hold it
	Exclusive       // clean, no other holds it
	Modified        // dirty, no other holds it
	Owned           // dirty, others may hold it Shared; supplies them
	Forward         // clean, others may hold it Shared; supplies them
	numStates
)

func (s State) String() string {
	if s < numStates {
		return [...]string{"I", "S", "E", "M", "O", "F"}[s]
	}
	return "invalid"
}

// State returns the state in which a core holds the line.
func (l *Line) State(core int) State {
	if l.state != Invalid && int(l.owner) == core {
		return l.state
	}
	if l.sharers>>core&1 != 0 {
		return Shared
	}
	return Invalid
}

// set makes st the state in which a core holds the line.
func (l *Line) set(core int, st State) {
	if l.state != Invalid && int(l.owner) == core {
		l.state = Invalid
	}
	switch st {
	case Invalid:
		l.sharers &^= 1 << core
		return
	case Shared:
	default:
		l.owner, l.state = uint8(core), st
	}
	l.sharers |= 1 << core
}

// Home returns the first virtual line under which the line was touched.
func (l *Line) Home() uint64 { return l.home }

func (l *Line) setHome(vline uint64) {
	if l.flags&flagHome == 0 {
		l.home = vline
		l.flags |= flagHome
	}
}

// Touch notes that a thread (from 1) reads or writes the line under vline, for
// the summary of what threads share: it returns true when vline and Home must
// be in it, because two threads touched the line, one of them by writing, or
// because the line is touched under several virtual lines. Of a line with one
// virtual line it says so once. Every first access of a thread, and every first
// write, must come here; those that a window answers are not first ones. What
// the kernel reads or writes on a thread's behalf counts as the thread's.
func (l *Line) Touch(thread uint32, vline uint64, write bool) bool {
	l.setHome(vline)
	switch l.first {
	case thread:
	case 0:
		l.first = thread
	default:
		l.flags |= flagTwo
	}
	if write {
		l.flags |= flagWritten
	}
	if vline != l.home {
		l.flags |= flagReported
		return true
	}
	if l.flags&(flagTwo|flagWritten|flagReported) == flagTwo|flagWritten {
		l.flags |= flagReported
		return true
	}
	return false
}
