package overlay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sort"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// A Log writes a Run to a trace of its own. Every participant is a thread that
// starts where its section does, with count 0, and ends where the run ended it.
// What the threads read flows in as in a recording: lines that the trace's
// thread doesn't hold, or not with these bytes. Bytes that nobody knows are 0.
//
// The trace has no marks for what the overlay assumed: the description says
// what was replaced.
type Log struct {
	w       *traces.Writer
	path    string
	run     *Run
	min     uint64
	cur     *participant // has the processing unit
	threads map[*participant]*logged
	code    map[uint64]bool   // pages in the trace
	lines   map[uint64]*users // by canonical line
	atomics map[Span]bool
	err     error
}

// A logged is what a Log knows of one thread.
type logged struct {
	unit   uint32
	lines  map[uint64]*[64]byte // what the trace's thread holds
	due    bool                 // an import, if what the line holds differs:
	line   uint64
	at     uint64 // its instruction
	insn   uint64 // the last instruction that touched memory,
	rcx    uint64 // and RCX before it
	call   uint64 // the system call under way
	inCall bool
	ended  bool
}

// users are the participants that read and wrote a line, a bit for each.
type users struct{ read, wrote uint8 }

// NewLog begins a trace at path for a run of sections of one recording. text
// says what the experiment is.
func NewLog(path, text string, s *Section) (*Log, error) {
	snap, ok := s.View.(*replay.Snapshot)
	if !ok {
		return nil, fmt.Errorf("overlay: %v has no recording", s)
	}
	from := snap.Session()
	h := from.Reader().Header()
	h.KeyEvery, h.HashEvery, h.PID, h.Parent, h.ForkThread, h.ForkMin = 0, 0, 0, 0, 0, 0
	w, err := traces.Create(path, h)
	if err != nil {
		return nil, err
	}
	l := &Log{w: w, path: path, threads: map[*participant]*logged{}, code: map[uint64]bool{}, lines: map[uint64]*users{}, atomics: map[Span]bool{}, min: 1}
	l.put(0, 0, &traces.Packet{Kind: traces.Mark, Name: traces.MarkExperiment, Bytes: []byte(text[:min(len(text), traces.MaxBytes)])})
	for _, m := range from.Mappings(snap.Min()) {
		l.put(0, 0, &traces.Packet{Kind: traces.Map, Min: l.min, Addr: uint64(m.Addr), N: m.N, Prot: int32(m.Prot), Shared: m.Shared, Path: m.Path,
			Offset: m.Offset, Alias: m.Alias, AliasOffset: m.AliasOffset})
	}
	for _, m := range from.Modules() {
		if m.Min <= snap.Min() {
			l.put(0, 0, &traces.Packet{Kind: traces.Module, Min: l.min, Path: m.Path, Addr: uint64(m.Base), BuildID: m.BuildID, Size: m.Size, ModTime: m.ModTime})
		}
	}
	if err := w.CopyFiles(from.Reader()); err != nil {
		l.fail(err)
	}
	return l, nil
}

// Stack says with which calls the thread of a section begins, outermost first.
func (l *Log) Stack(id emulate.ThreadID, frames []replay.Frame) {
	for _, f := range frames {
		var b []byte
		for _, x := range []emulate.Addr{f.Entry, f.Site, f.SP} {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
		l.put(0, 0, &traces.Packet{Kind: traces.Mark, Name: traces.MarkFrame, Value: uint64(id), Bytes: b})
	}
}

// Save makes the run write what it does to l. It must come before anything runs.
func (r *Run) Save(l *Log) {
	r.log, l.run = l, r
	for i, p := range r.parts {
		l.threads[p] = &logged{unit: uint32(i), lines: map[uint64]*[64]byte{}, insn: ^uint64(0)}
		l.event(p, &traces.Packet{Kind: traces.Start, Thread: uint32(p.sec.Thread), State: x86.AppendState(nil, p.cpu)})
	}
}

// Close ends the trace. The error says that it couldn't be written, or that the
// run has something that a trace can't hold; there is no file then.
func (l *Log) Close() error {
	if l.run == nil {
		l.fail(errors.New("overlay: an experiment that wasn't run"))
	} else {
		l.finish()
	}
	if l.err != nil {
		l.w.Abort()
		os.Remove(l.path + traces.IncompleteSuffix)
		return l.err
	}
	return l.w.Close()
}

func (l *Log) finish() {
	for _, p := range l.run.parts {
		l.exit(p)
	}
	for _, s := range l.run.fresh {
		l.put(0, 0, &traces.Packet{Kind: traces.Map, Min: 1, Addr: s.Addr &^ 4095, N: (s.N + s.Addr&4095 + 4095) &^ 4095, Prot: 3})
	}
	var nums []uint64
	for n, u := range l.lines {
		if u.wrote != 0 && (u.wrote|u.read)&(u.wrote|u.read-1) != 0 && (u.wrote|u.read) != 1 && (u.wrote|u.read) != 2 {
			nums = append(nums, n)
		}
	}
	sort.Slice(nums, func(i, j int) bool { return nums[i] < nums[j] })
	for first := true; first || len(nums) > 0; first = false {
		n := min(len(nums), traces.MaxItems)
		p := &traces.Packet{Kind: traces.Shared}
		for _, k := range nums[:n] {
			p.Lines = append(p.Lines, traces.LineRange{First: k, N: 1})
		}
		l.put(0, 0, p)
		nums = nums[n:]
	}
	var ops []traces.Range
	for s := range l.atomics {
		ops = append(ops, traces.Range{Addr: s.Addr, N: s.N})
	}
	sort.Slice(ops, func(i, j int) bool {
		return ops[i].Addr < ops[j].Addr || ops[i].Addr == ops[j].Addr && ops[i].N < ops[j].N
	})
	for first := true; first || len(ops) > 0; first = false {
		n := min(len(ops), traces.MaxItems)
		l.put(0, 0, &traces.Packet{Kind: traces.Atomics, Writes: ops[:n]})
		ops = ops[n:]
	}
	total := uint64(0)
	for _, p := range l.run.parts {
		total += p.cpu.Count - uint64(p.sec.Start)
	}
	l.min++
	l.put(0, 0, &traces.Packet{Kind: traces.ProcessExit, Min: l.min, Total: total})
}

func (l *Log) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

func (l *Log) put(stream uint32, count uint64, p *traces.Packet) {
	if l.err == nil {
		l.fail(l.w.Put(stream, count, p))
	}
}

// at puts a packet in a participant's stream, at its present count.
func (l *Log) at(p *participant, pk *traces.Packet) {
	l.put(uint32(p.sec.Thread), uint64(p.count()-p.sec.Start), pk)
}

// event is at with the next number of an orderable event.
func (l *Log) event(p *participant, pk *traces.Packet) {
	l.min++
	pk.Min = l.min
	l.at(p, pk)
}

// in says that p executes, out that it was stopped.
func (l *Log) in(p *participant) {
	if l == nil || l.cur == p {
		return
	}
	l.out()
	l.cur = p
	l.event(p, &traces.Packet{Kind: traces.Switch, Unit: l.threads[p].unit, In: true})
}

func (l *Log) out() {
	if l == nil || l.cur == nil {
		return
	}
	p := l.cur
	l.flush(p)
	l.cur = nil
	if t := l.threads[p]; !t.ended {
		l.event(p, &traces.Packet{Kind: traces.Switch, Unit: t.unit})
	}
}

// paused is out in the middle of an instruction.
func (l *Log) paused(p *participant) {
	if l == nil {
		return
	}
	l.flush(p)
	t := l.threads[p]
	if p.cpu.Pending().Size != 0 {
		l.at(p, &traces.Packet{Kind: traces.Split})
	} else if p.cpu.IsRep() && t.insn == uint64(p.count()) && t.rcx > p.cpu.R[x86.RCX] {
		l.at(p, &traces.Packet{Kind: traces.Rep, Iter: t.rcx - p.cpu.R[x86.RCX]})
		t.rcx = p.cpu.R[x86.RCX]
	}
	l.out()
}

// touch notes that the instruction that executes accesses a line. What the line
// holds is settled when the next thing happens.
func (l *Log) touch(p *participant, line uint64, write bool) {
	t := l.threads[p]
	l.flush(p)
	if n := uint64(p.count()); t.insn != n {
		t.insn, t.rcx = n, p.cpu.R[x86.RCX]
	}
	t.due, t.line, t.at = true, line, uint64(p.count()-p.sec.Start)
	c := p.canon(line)
	u := l.lines[c]
	if u == nil {
		u = new(users)
		l.lines[c] = u
	}
	if write {
		u.wrote |= 1 << t.unit
	} else {
		u.read |= 1 << t.unit
	}
}

// flush imports the line touched last, if the trace's thread holds other bytes.
func (l *Log) flush(p *participant) {
	t := l.threads[p]
	if !t.due {
		return
	}
	t.due = false
	var now [64]byte
	data, known := p.view(t.line)
	if data != nil {
		merge(&now, data, known)
	}
	if x := p.run.mem.get(p.canon(t.line)); x != nil {
		merge(&now, &x.data, x.mask)
	}
	held := t.lines[t.line]
	if held != nil && *held == now {
		return
	}
	if held == nil {
		held = new([64]byte)
		t.lines[t.line] = held
	}
	*held = now
	if l.err == nil {
		l.fail(l.w.PutImport(uint32(p.sec.Thread), t.at, t.line, held))
	}
}

// stored notes a store: the trace's thread does it, too.
func (l *Log) stored(p *participant, addr uint64, size int, v uint64) {
	t := l.threads[p]
	if held := t.lines[addr>>6]; held != nil {
		for i := 0; i < size; i++ {
			held[addr&63+uint64(i)] = byte(v >> (8 * i))
		}
	}
}

// orderable notes an instruction of that kind.
func (l *Log) orderable(p *participant, addr uint64, size int) {
	l.flush(p)
	l.min++
	if l.err == nil {
		l.fail(l.w.PutOrder(uint32(p.sec.Thread), uint64(p.count()-p.sec.Start), l.min))
	}
	if size > 0 {
		l.atomics[Span{addr, uint64(size)}] = true
	}
}

// nondet notes what an instruction put in registers.
func (l *Log) nondet(p *participant, what x86.NondetKind, dst uint8) {
	l.at(p, &traces.Packet{Kind: traces.Nondet, What: uint8(what), Regs: x86.NondetRegs(p.cpu, what, dst)})
}

// context notes that something replaced the registers.
func (l *Log) context(p *participant) {
	if l == nil {
		return
	}
	l.flush(p)
	l.threads[p].inCall = false
	l.at(p, &traces.Packet{Kind: traces.Context, State: x86.AppendState(nil, p.cpu)})
}

// objMemory is the kind of a futex word among released and acquired objects.
const objMemory = 1

// enter notes a system call, leave its end. released and acquired are 0, or the
// address of a futex word.
func (l *Log) enter(p *participant, nr uint64, args [6]uint64, released uint64) {
	if l == nil {
		return
	}
	l.flush(p)
	t := l.threads[p]
	t.inCall, t.call = true, nr
	l.event(p, &traces.Packet{Kind: traces.SyscallEnter, Nr: nr, Args: args, Objs: object(released)})
}

func (l *Log) leave(p *participant, ret uint64, writes []Span, acquired uint64, state bool) {
	if l == nil {
		return
	}
	t := l.threads[p]
	t.inCall = false
	pk := &traces.Packet{Kind: traces.SyscallExit, Nr: t.call, Ret: ret, Objs: object(acquired)}
	for _, w := range writes[:min(len(writes), traces.MaxItems)] {
		pk.Writes = append(pk.Writes, traces.Range{Addr: w.Addr, N: w.N})
	}
	if state {
		pk.State = x86.AppendState(nil, p.cpu)
	}
	l.event(p, pk)
}

func object(addr uint64) []traces.Object {
	if addr == 0 {
		return nil
	}
	return []traces.Object{{Kind: objMemory, ID: addr}}
}

// faulted notes that the next instruction faults.
func (l *Log) faulted(p *participant, s *x86.Stop) {
	if l == nil {
		return
	}
	if t := l.threads[p]; s.Vector == x86.VecPF && t.line == s.Addr>>6 {
		t.due = false
	}
	l.flush(p)
	l.at(p, &traces.Packet{Kind: traces.Fault, Vector: s.Vector, Addr: s.Addr, Code: int32(s.Code)})
}

// exit ends a participant's stream.
func (l *Log) exit(p *participant) {
	t := l.threads[p]
	if t.ended {
		return
	}
	l.flush(p)
	if p.out == Done && !t.inCall && p.cpu.Pending().Size == 0 {
		l.at(p, &traces.Packet{Kind: traces.Hash, Hash: x86.HashState(x86.AppendState(nil, p.cpu))})
	}
	t.ended = true
	l.event(p, &traces.Packet{Kind: traces.Exit})
	if l.cur == p {
		l.cur = nil
	}
}

// pages puts the page of code that holds pc in the trace.
func (l *Log) pages(p *participant, pc uint64) {
	page := pc &^ (replay.PageSize - 1)
	if l == nil || l.code[page] {
		return
	}
	l.code[page] = true
	if b := p.fetch(page); len(b) == replay.PageSize {
		l.put(0, 0, &traces.Packet{Kind: traces.Code, Min: 1, Addr: page, Bytes: b})
		return
	}
	l.put(0, 0, &traces.Packet{Kind: traces.CodePage, Min: 1, Addr: page})
	for at := page; at < page+replay.PageSize; at += hwmodel.LineSize {
		if b := p.fetch(at); len(b) >= hwmodel.LineSize {
			l.put(0, 0, &traces.Packet{Kind: traces.CodeLines, Line: at / hwmodel.LineSize, Bytes: b[:hwmodel.LineSize]})
		}
	}
}
