package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strings"
	"sync"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// A Result says what was recorded.
type Result struct {
	Status       int // exit status, if Signal is 0
	Signal       int // signal that killed the guest, 0 if none did
	Instructions uint64
	Threads      int
	Contended    uint64 // instructions of a process while two of its threads could run, the most
	Events       uint64 // orderable events
	Processes    int
	Bytes        int64 // of the traces
	KeyFrames    int   // beside the threads' starts
	// Unembedded are files that should be in the trace and couldn't be read,
	// with the reasons.
	Unembedded []string
	// Missed is what the guest asked for and was refused because it isn't
	// supported.
	Missed []linux.Missed
}

// An Error says that a recording ended before the guest did. What was recorded
// up to there is in the trace.
type Error struct {
	Position emulate.Position // of the thread that ran last
	PC       emulate.Addr
	Err      error
}

func (e *Error) Error() string {
	return fmt.Sprintf("record: at position %v, pc %v: %v", e.Position, e.PC, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// A recorder is the linux.Hooks of one process.
type recorder struct {
	*recording
	w  *traces.Writer
	p  *linux.Process
	as *linux.AddressSpace

	cur  *thread // who runs, on unit, with win
	unit int
	win  *hwmodel.Window
	// entry is that of the unit's TLB for the page that the running access is
	// about.
	entry *hwmodel.TLBEntry
	// The unit's window of code, nil if there is no code cache.
	fetches *hwmodel.FetchWindow

	places   [places]place
	borrowed bool // as is another process's, which is told of changes: places don't hold

	all     []*thread
	holders holders       // unless in LogIndependent: nil
	taken   *hwmodel.Line // in LogCCPReaders: that the running access takes from others
	images  *images       // in LogCCPMemory, else nil

	atomics    map[atomicOperand]struct{}
	lastAtomic atomicOperand
	code       map[uint64]*codePage // by page number
	modules    []linux.Module
	stateBuf   []byte
	pageBuf    []byte
	ended      bool // nothing can be put in the trace any more

	execed             bool // another program took the process's place, and has a processor that knows nothing of the recorder
	live               []*thread
	entries            map[emulate.Addr]bool // of selected functions
	streams            map[uint32]*thread    // of all threads, if functions are selected
	threads, keyFrames int
	instructions       uint64
}

// A recording is what the recorders of all processes have in common.
type recording struct {
	cfg  Config
	head traces.Header
	root *linux.Process
	m    *hwmodel.Machine
	hw   hwmodel.Config
	tlb  bool
	last []*thread // by unit: whose tags its window holds

	min    uint64 // the last orderable event
	shared hwmodel.LineSet
	// tenants are the threads that hold pages, of a log of pages.
	tenants map[*linux.Frame]*tenants
	err     error // the first failure to write
	once    sync.Once

	processes           int
	total               Result // of processes that have ended, but the first
	keyEvery, hashEvery uint64

	embeds     Embed
	known      map[moduleFile]bool // files that the traces have, or will not have
	unembedded []string
}

type atomicOperand struct {
	addr uint64
	size int
}

// newRecorder returns the recorder of a process that writes to w, the trace at
// path with the header head.
func (g *recording) newRecorder(w *traces.Writer, path string, head traces.Header) *recorder {
	g.processes++
	if g.cfg.Ring > 0 {
		w.Ring(g.cfg.Ring, g.cfg.RingPerThread)
	}
	r := &recorder{recording: g, w: w, entries: map[emulate.Addr]bool{}, streams: map[uint32]*thread{}, atomics: map[atomicOperand]struct{}{}, code: map[uint64]*codePage{}}
	if g.cfg.LogMode != LogIndependent {
		r.holders = holders{}
	}
	if g.cfg.LogMode == LogCCPMemory {
		r.images = &images{path: path, head: head, pages: map[uint64]*[linux.PageSize]byte{}}
	}
	return r
}

// Run records a program until it ends or ctx is done. The error, if any, says
// why the recording ended before the program; the Result is good nevertheless.
func Run(ctx context.Context, cfg Config) (Result, error) {
	lc, err := cfg.complete()
	if err != nil {
		return Result{}, err
	}
	embeds, err := ParseEmbed(cfg.Embed)
	if err != nil {
		return Result{}, fmt.Errorf("record: %w", err)
	}
	path, err := program(cfg.Argv[0])
	if err != nil {
		return Result{}, fmt.Errorf("record: %w", err)
	}
	lc.Path = path
	hw, err := cfg.Hardware()
	if err != nil {
		return Result{}, fmt.Errorf("record: %w", err)
	}
	head, err := header(&cfg, path, hw)
	if err != nil {
		return Result{}, err
	}
	output := cfg.Output
	if lc.Children == linux.ChildrenRecord {
		if err := makeDir(output); err != nil {
			return Result{}, err
		}
		head.PID = linux.FirstPID
		output = traceOf(output, linux.FirstPID)
	}
	w, err := traces.Create(output, head)
	if err != nil {
		return Result{}, err
	}
	g := &recording{cfg: cfg, head: head, m: hwmodel.New(hw), hw: hw, tlb: hw.HasTLB(), last: make([]*thread, hw.Units()), embeds: embeds, known: map[moduleFile]bool{},
		tenants:  map[*linux.Frame]*tenants{},
		keyEvery: uint64(max(cfg.KeyFrameEvery, 0)), hashEvery: uint64(max(cfg.HashEvery, 0))}
	r := g.newRecorder(w, output, head)
	p, err := linux.New(lc, r, cfg.Argv, cfg.Env)
	if err != nil {
		w.Abort()
		os.Remove(output + traces.IncompleteSuffix)
		if output != cfg.Output {
			os.Remove(cfg.Output)
		}
		return Result{}, fmt.Errorf("record: %w", err)
	}
	res, err := r.run(ctx, p)
	if e := w.Close(); err == nil {
		err = e
	}
	if e := r.images.close(); err == nil {
		err = e
	}
	for _, f := range []string{output, output + traces.ImagesSuffix} {
		if st, e := os.Stat(f); e == nil && (f == output || r.images != nil) {
			res.Bytes += st.Size()
		}
	}
	return res, err
}

// run executes the guest and puts everything but the index in the trace.
func (r *recorder) run(ctx context.Context, p *linux.Process) (Result, error) {
	r.root = p
	stop := context.AfterFunc(ctx, func() { r.interrupt(context.Cause(ctx)) })
	defer stop()
	st, err := p.Run()
	if r.err != nil {
		err = r.err
	}
	res := r.total
	res.Status, res.Signal = st.Code, int(st.Signal)
	if err != nil {
		err = r.located(err)
	}
	r.add(&res)
	res.Events, res.Missed, res.Processes = r.min, p.Missed(), r.processes
	res.Unembedded = r.unembedded
	r.ended = false
	r.summarise()
	if d := (*linux.Deadlock)(nil); errors.As(err, &d) {
		r.put(0, 0, &traces.Packet{Kind: traces.Mark, Name: traces.MarkDeadlock, Bytes: []byte(d.Error())})
	}
	if err == nil {
		r.min++
		r.exit(st)
		err = r.err
	}
	return res, err
}

// exit puts the last packet in the trace.
func (r *recorder) exit(st linux.ExitStatus) {
	r.put(0, 0, &traces.Packet{Kind: traces.ProcessExit, Min: r.min, Status: int32(st.Code), Signo: int32(st.Signal), Total: r.instructions})
}

// add adds what r's process did to res.
func (r *recorder) add(res *Result) {
	res.Instructions += r.instructions
	res.Threads += r.threads
	res.KeyFrames += r.keyFrames
	res.Contended = max(res.Contended, r.p.Contended())
}

// interrupt makes the guest stop soon. Any goroutine may call it, more than
// once.
func (r *recorder) interrupt(err error) {
	r.once.Do(func() { r.root.Interrupt(err) })
}

// located adds to an error where the guest was.
func (r *recorder) located(err error) error {
	var e *Error
	if errors.As(err, &e) || r.cur == nil {
		return err
	}
	t := r.cur
	c := t.t.CPU
	return &Error{emulate.Position{Thread: t.t.ID, Sequence: t.min, Steps: c.Count - t.minAt}, emulate.Addr(c.RIP), err}
}

// program finds the file of a program as a shell would.
func program(name string) (string, error) {
	if strings.Contains(name, "/") {
		if _, err := os.Stat(name); err != nil {
			return "", err
		}
		return name, nil
	}
	return exec.LookPath(name)
}

// header describes the recording.
func header(cfg *Config, path string, hw hwmodel.Config) (traces.Header, error) {
	st, err := os.Stat(path)
	if err != nil {
		return traces.Header{}, fmt.Errorf("record: %w", err)
	}
	dir := cfg.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	return traces.Header{
		Arch: "x86-64", CPULevel: cfg.CPU, ReadLog: cfg.ReadLog, MemoryModel: cfg.MemoryModel, LogMode: cfg.LogMode, CodeLog: cfg.codeLogName(),
		Select: cfg.SelectNames, Ring: ringName(cfg), Cores: uint32(hw.Units()), Seed: cfg.Seed, Schedule: cfg.Schedule, Clock: cfg.Clock, Hardware: hw.String(),
		KeyEvery: uint64(max(cfg.KeyFrameEvery, 0)), HashEvery: uint64(max(cfg.HashEvery, 0)),
		Program: cfg.Argv[0], Argv: cfg.Argv, Dir: dir,
		ExePath: path, ExeSize: st.Size(), ExeModTime: st.ModTime().UnixNano(),
	}, nil
}

// summarise puts what is only known at the end in the process stream.
func (r *recorder) summarise() {
	lines := r.shared.Ranges()
	for first := true; first || len(lines) > 0; first = false {
		n := min(len(lines), traces.MaxItems)
		p := &traces.Packet{Kind: traces.Shared}
		for _, l := range lines[:n] {
			p.Lines = append(p.Lines, traces.LineRange{First: l.First, N: l.N})
		}
		r.put(0, 0, p)
		lines = lines[n:]
	}
	var ops []traces.Range
	for a := range r.atomics {
		ops = append(ops, traces.Range{Addr: a.addr, N: uint64(a.size)})
	}
	sort.Slice(ops, func(i, j int) bool {
		return ops[i].Addr < ops[j].Addr || ops[i].Addr == ops[j].Addr && ops[i].N < ops[j].N
	})
	for first := true; first || len(ops) > 0; first = false {
		n := min(len(ops), traces.MaxItems)
		r.put(0, 0, &traces.Packet{Kind: traces.Atomics, Writes: ops[:n]})
		ops = ops[n:]
	}
	total := r.m.Total()
	var cs []traces.Counter
	for i, c := range total.List() {
		if i >= hwmodel.AlwaysCounted && c.Value == 0 {
			continue
		}
		cs = append(cs, traces.Counter{Name: c.Name, Value: c.Value})
	}
	for u := range r.hw.Units() {
		one := r.m.Counters(u)
		for _, c := range one.List() {
			if c.Value != 0 {
				cs = append(cs, traces.Counter{Name: fmt.Sprintf("unit%d.%s", u, c.Name), Value: c.Value})
			}
		}
	}
	r.put(0, 0, &traces.Packet{Kind: traces.Counters, Counters: cs})
}
