package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// A Session is an open trace: what its process stream says, and the threads
// that can be replayed. It is safe for concurrent use.
type Session struct {
	r       *traces.Reader
	reads   hwmodel.ReadLog
	orders  hwmodel.MemoryModel
	threads []emulate.ThreadID
	last    map[emulate.ThreadID]traces.StreamInfo

	code    map[uint64][]*codeVersion // by page number, in the order of min
	static  atomic.Pointer[func(num uint64) []byte]
	recodes []recode        // in the order of min
	own     map[uint64]bool // pages of which some version is each thread's own; nil: none
	decoded *x86.Decoded    // for all who execute what the trace has
	maps    []mapChange
	modules []Module

	shared    *LineSet
	atomics   []traces.Range
	counters  []traces.Counter
	exit      *Exit
	whole     uint64 // see Begin
	deadlock  bool
	execs     [][]string
	about     string // of an experiment
	cut       string // which part of a recording it is
	begins    uint64 // with which event
	stacks    map[emulate.ThreadID][]Frame
	snapshots []Image
	shown     shown
	images    map[uint64][]imageLine // of the second file, by line

	releaseOnce sync.Once
	releases    map[release]*[PageSize]byte
	releaseErr  error

	schedOnce sync.Once
	schedule  []Slice
	schedErr  error
}

// A Module is an ELF image in the guest.
type Module struct {
	Min     uint64 // orderable event after which it was mapped
	Life    int    // of the process: how many programs had taken its place by then
	Path    string
	Base    emulate.Addr // what to add to the file's virtual addresses
	BuildID string       // hexadecimal, empty if it has none
	Size    int64        // of the file, bytes
	ModTime int64        // of the file, ns since 1970
}

// An Exit is how the process ended.
type Exit struct {
	Status int
	Signal int    // 0: none
	Total  uint64 // instructions of all threads
}

// An Image is recorded content of memory, from whole-memory snapshots.
type Image struct {
	Min  uint64
	Addr emulate.Addr
	Data []byte
}

// logModes are those that can be replayed.
var logModes = []string{"independent", "ccp", "ccp:memory", "ccp:readers"}

// Open reads the process stream of a trace. The Session doesn't close r.
func Open(r *traces.Reader) (*Session, error) {
	s := &Session{r: r, last: map[emulate.ThreadID]traces.StreamInfo{}, code: map[uint64][]*codeVersion{}, decoded: x86.NewDecoded()}
	h := r.Header()
	switch {
	case h.Arch != "x86-64":
		return nil, fmt.Errorf("replay: the trace is of instruction set %q, expected x86-64", h.Arch)
	case !slices.Contains(logModes, h.LogMode):
		return nil, fmt.Errorf("replay: log mode %q isn't supported, expected one of %q", h.LogMode, logModes)
	}
	var err error
	if s.reads, err = hwmodel.ParseReadLog(h.ReadLog); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if s.orders, err = hwmodel.ParseMemoryModel(h.MemoryModel); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if s.reads.Kind != hwmodel.ReadsCache && h.LogMode != "independent" {
		return nil, fmt.Errorf("replay: read log %q in mode %q isn't supported", h.ReadLog, h.LogMode)
	}
	for _, st := range r.Streams() {
		if st.Stream != 0 {
			id := emulate.ThreadID(st.Stream)
			s.threads = append(s.threads, id)
			s.last[id] = st
		}
	}
	cur := r.Cursor(0)
	var lines []traces.LineRange
	var haveShared bool
	var shared uint64
	for {
		p, err := cur.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := checkProcess(p, &shared); err != nil {
			return nil, err
		}
		switch p.Kind {
		case traces.Map, traces.Unmap, traces.Protect:
			s.maps = append(s.maps, changeOf(p))
		case traces.Module:
			s.modules = append(s.modules, Module{Min: p.Min, Life: len(s.execs), Path: p.Path, Base: emulate.Addr(p.Addr), BuildID: p.BuildID, Size: p.Size, ModTime: p.ModTime})
		case traces.Code, traces.CodePage, traces.CodeOwn:
			s.addCode(p)
		case traces.CodeLines:
			if err := s.addCodeLines(p); err != nil {
				return nil, err
			}
		case traces.Shared:
			haveShared = true
			lines = append(lines, p.Lines...)
		case traces.Atomics:
			s.atomics = append(s.atomics, p.Writes...)
		case traces.Counters:
			s.counters = append(s.counters, p.Counters...)
		case traces.Snapshot:
			s.snapshots = append(s.snapshots, Image{p.Min, emulate.Addr(p.Addr), append([]byte(nil), p.Bytes...)})
		case traces.Mark:
			s.deadlock = s.deadlock || p.Name == traces.MarkDeadlock
			switch {
			case p.Name == traces.MarkCut:
				s.cut, s.begins = string(p.Bytes), p.Value
			case p.Name == traces.MarkExperiment:
				s.about = "experiment"
				if len(p.Bytes) > 0 {
					s.about = string(p.Bytes)
				}
			case p.Name == traces.MarkFrame && len(p.Bytes) == 24:
				if s.stacks == nil {
					s.stacks = map[emulate.ThreadID][]Frame{}
				}
				n := func(i int) emulate.Addr { return emulate.Addr(binary.LittleEndian.Uint64(p.Bytes[8*i:])) }
				id := emulate.ThreadID(p.Value)
				s.stacks[id] = append(s.stacks[id], Frame{n(0), n(1), n(2)})
			}
			if p.Name == traces.MarkExec {
				s.execs = append(s.execs, strings.Split(strings.TrimSuffix(string(p.Bytes), "\x00"), "\x00"))
			}
		case traces.ProcessExit:
			s.exit = &Exit{Status: int(p.Status), Signal: int(p.Signo), Total: p.Total}
		}
	}
	for _, id := range s.threads {
		if keys := r.KeyFrames(uint32(id)); len(keys) > 0 && keys[0].Kind == traces.KeyFrame {
			s.whole = max(s.whole, keys[0].Min+1)
		}
	}
	if haveShared && r.Incomplete() == "" {
		s.shared = NewLineSet(lines)
	}
	if h.LogMode == "ccp:memory" {
		if err := s.readImages(); err != nil {
			return nil, err
		}
	}
	sort.SliceStable(s.recodes, func(i, j int) bool { return s.recodes[i].min < s.recodes[j].min })
	return s, nil
}

// Reader returns the trace.
func (s *Session) Reader() *traces.Reader { return s.r }

// NewBlocks returns a cache with nothing in it for the guest's code, which isn't
// decoded again if anybody has.
func (s *Session) NewBlocks() *x86.BlockCache { return s.decoded.NewBlockCache() }

// Dependent says that threads can't be replayed one by one, because what flows
// into one isn't logged if another has it: only Verify and Decouple work.
func (s *Session) Dependent() bool { return s.r.Header().LogMode != "independent" }

// Threads returns the threads of the trace, in the order of their creation.
func (s *Session) Threads() []emulate.ThreadID {
	return append([]emulate.ThreadID(nil), s.threads...)
}

// Last returns the count at the last packet of a thread: how far it can be
// replayed at most.
func (s *Session) Last(id emulate.ThreadID) emulate.Count {
	return emulate.Count(s.last[id].LastCount)
}

// Begin returns the event from which on the trace has all threads that there
// were: 0, unless only the end of the recording was kept (a ring).
func (s *Session) Begin() uint64 { return s.whole }

// First returns the count at which a thread begins in the trace: 0 unless the
// trace is a part of a recording.
func (s *Session) First(id emulate.ThreadID) emulate.Count {
	if k := s.r.KeyFrames(uint32(id)); len(k) > 0 {
		return emulate.Count(k[0].Count)
	}
	return 0
}

// Modules returns the ELF images that were mapped, in order.
func (s *Session) Modules() []Module { return append([]Module(nil), s.modules...) }

// Shared returns the lines that two threads touched, one of them by writing,
// or nil if the trace doesn't say (it was cut off): then any line may be.
func (s *Session) Shared() *LineSet { return s.shared }

// Atomics returns the operands of all atomic instructions. An incomplete trace
// has none.
func (s *Session) Atomics() []traces.Range { return s.atomics }

// Counters returns what the hardware model counted.
func (s *Session) Counters() []traces.Counter { return s.counters }

// Exit returns how the process ended, nil if the trace was cut off before.
func (s *Session) Exit() *Exit { return s.exit }

// Execs returns the arguments of the programs that took each other's place.
func (s *Session) Execs() [][]string { return s.execs }

// PartOf says which part of a recording the trace is, "" if it is a whole one. Its
// threads begin where they were then: what came before isn't known.
func (s *Session) PartOf() string { return s.cut }

// Begins returns the event with which a part of a recording begins, 0 of a whole
// one. Switches before it belong to what a thread had under way then, and to no
// slice.
func (s *Session) Begins() uint64 { return s.begins }

// Experiment says what was executed again if the trace is of an experiment with
// sections of another, "" if it is a recording.
func (s *Session) Experiment() string { return s.about }

// A Frame is a call that was under way when a thread of an experiment began.
type Frame struct {
	Entry emulate.Addr // of the function
	Site  emulate.Addr // the calling instruction, 0: none
	SP    emulate.Addr // where the return address is, all ones: nowhere
}

// Stack returns the calls with which a thread begins, outermost first: none
// but in experiments.
func (s *Session) Stack(id emulate.ThreadID) []Frame { return s.stacks[id] }

// Deadlock says that the recording ended because every thread waited for ever.
func (s *Session) Deadlock() bool { return s.deadlock }

// Images returns the memory snapshots in the trace.
func (s *Session) Images() []Image { return s.snapshots }

// A Slice is an uninterrupted stay of a thread on a processing unit: the
// instructions From to To-1. Slices in the order of Min are the whole
// execution; no two overlap.
type Slice struct {
	Thread   emulate.ThreadID
	Unit     int
	From, To emulate.Count
	Min      uint64 // of the event that began it
	End      uint64 // of the event that ended it; the thread's last one if it never did
}

// Schedule returns all slices in the order in which they were executed; of an
// incomplete trace, those that began before the cut in every stream. The first
// call reads the whole trace.
func (s *Session) Schedule() ([]Slice, error) {
	s.schedOnce.Do(func() { s.schedule, s.schedErr = s.readSchedule() })
	return s.schedule, s.schedErr
}

func (s *Session) readSchedule() ([]Slice, error) {
	var all []Slice
	for _, id := range s.threads {
		cur := s.r.Cursor(uint32(id))
		var open *Slice
		for {
			p, err := cur.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			switch {
			case p.Kind == traces.Switch && p.Min < s.begins:
			case p.Kind == traces.Switch && p.In && p.Min <= s.r.SafeMin():
				if open != nil {
					return nil, fmt.Errorf("replay: thread %d gets a unit at count %d, min %d, while it has one", id, p.Count, p.Min)
				}
				open = &Slice{Thread: id, Unit: int(p.Unit), From: emulate.Count(p.Count), Min: p.Min}
			case p.Kind == traces.Switch || p.Kind == traces.Exit:
				if open != nil {
					open.To, open.End = emulate.Count(p.Count), p.Min
					all = append(all, *open)
					open = nil
				}
			}
		}
		if open != nil {
			open.To, open.End = s.Last(id), cur.Min()
			all = append(all, *open)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Min < all[j].Min })
	return all, nil
}

// Locate returns the count of the instruction that a position names.
func (s *Session) Locate(pos emulate.Position) (emulate.Count, error) {
	if _, ok := s.last[pos.Thread]; !ok {
		return 0, fmt.Errorf("replay: position %v: the trace has no thread %d", pos, pos.Thread)
	}
	cur := s.r.Cursor(uint32(pos.Thread))
	keys := cur.KeyFrames()
	n := sort.Search(len(keys), func(i int) bool { return keys[i].Min > pos.Sequence })
	// A key frame repeats the number of the event before it.
	for n > 0 && keys[n-1].Min == pos.Sequence && keys[n-1].Kind == traces.KeyFrame {
		n--
	}
	if n > 0 {
		if err := cur.Seek(keys[n-1]); err != nil {
			return 0, err
		}
	}
	for {
		p, err := cur.Next()
		if errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("replay: position %v: thread %d has no orderable event %d", pos, pos.Thread, pos.Sequence)
		}
		if err != nil {
			return 0, err
		}
		if !p.Kind.HasMin() || p.Kind == traces.KeyFrame {
			continue
		}
		if p.Min == pos.Sequence {
			return emulate.Count(p.Count + pos.Steps), nil
		}
		if p.Min > pos.Sequence {
			return 0, fmt.Errorf("replay: position %v: thread %d has no orderable event %d", pos, pos.Thread, pos.Sequence)
		}
	}
}
