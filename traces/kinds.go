package traces

import (
	"fmt"
	"slices"
)

// A Kind says what a packet is. Its number is the packet's first byte in the
// file and never changes its meaning.
type Kind uint8

// The kinds of packets. The table below says what they hold.
const (
	_            Kind = 0
	Start        Kind = 1
	Import       Kind = 2
	importZero   Kind = 3
	importMask   Kind = 4
	Order        Kind = 5
	SyscallEnter Kind = 6
	SyscallExit  Kind = 7
	Nondet       Kind = 8
	Signal       Kind = 9
	Context      Kind = 10
	Fault        Kind = 11
	KeyFrame     Kind = 12
	Hash         Kind = 13
	Switch       Kind = 14
	Split        Kind = 15
	Rep          Kind = 16
	Exit         Kind = 17
	Read         Kind = 18
	Part         Kind = 19
	Page         Kind = 20
	PageFrom     Kind = 21
	Around       Kind = 22
	Gap          Kind = 23
	Fetch        Kind = 24
	FetchOwn     Kind = 25
	Memory       Kind = 26
	Snoop        Kind = 27
	SnoopOwn     Kind = 28
	Upgrade      Kind = 29
	TLB          Kind = 30
	FetchAs      Kind = 31

	Map         Kind = 32
	Unmap       Kind = 33
	Protect     Kind = 34
	Module      Kind = 35
	Code        Kind = 36
	Shared      Kind = 37
	Atomics     Kind = 38
	Counters    Kind = 39
	Snapshot    Kind = 40
	Mark        Kind = 41
	ProcessExit Kind = 42
	CodePage    Kind = 43
	CodeLines   Kind = 44
	CodeOwn     Kind = 45

	File    Kind = 48
	Content Kind = 49

	numKinds = 50
)

// Where says in which streams a kind may stand.
type Where uint8

const (
	_         Where = iota
	InThread        // streams 1 and up
	InProcess       // stream 0
	Anywhere        // in both
	InFiles         // FilesStream
)

func (w Where) String() string {
	switch w {
	case InThread:
		return "thread"
	case InProcess:
		return "process"
	case Anywhere:
		return "any"
	case InFiles:
		return "files"
	}
	return "invalid"
}

// A KindInfo is one row of the packet table.
type KindInfo struct {
	Kind   Kind
	Name   string
	Where  Where
	Fields []*Field
	Doc    string
	// Form is set for a short form of another kind: a Writer chooses it, a
	// Cursor returns the kind named.
	Form Kind
}

// A Field is one field of a packet: its name in the text form and in the
// documentation, and where it is kept. Its wire form follows from its Go type
// (see codec.go) unless Wire says otherwise.
type Field struct {
	Name string
	Doc  string
	Wire wire
	ptr  func(p *Packet) any
}

// wire names the encoding of a field.
type wire uint8

const (
	wireAuto  wire = iota // by the Go type: see wireName
	wireMin               // zigzag difference to the stream's previous min
	wireLine              // zigzag difference to the stream's previous import
	wireFixed             // 8 bytes, little-endian
	wireFull              // 64 bytes
	wireZero              // nothing: 64 zero bytes
	wireMask              // 8 bytes: one bit for each byte that isn't 0; then those bytes
	wireHex               // as wireAuto; printed in hexadecimal
	wireSince             // zigzag difference of the stream's previous min to it
	wirePage              // zigzag difference to the page of the chunk's previous TLB packet
)

var (
	fMin    = &Field{"min", "number of the orderable event", wireMin, func(p *Packet) any { return &p.Min }}
	fThread = &Field{"thread", "thread number, from 1", 0, func(p *Packet) any { return &p.Thread }}
	fParent = &Field{"parent", "the thread that created it, 0: none", 0, func(p *Packet) any { return &p.Parent }}
	fFrom   = &Field{"from", "sending thread, 0: kernel or outside", 0, func(p *Packet) any { return &p.Thread }}
	fSource = &Field{"source", "the thread that has the line", 0, func(p *Packet) any { return &p.Thread }}
	fSince  = &Field{"since", "number of that thread's last orderable event so far", wireSince, func(p *Packet) any { return &p.Since }}
	fTheirs = &Field{"theirs", "the line's virtual address >> 6 there", wireHex, func(p *Packet) any { return &p.Value }}
	fOwned  = &Field{"own", "whether to be written: nobody else has the line afterwards", 0, func(p *Packet) any { return &p.In }}
	fHolder = &Field{"holder", "one of the threads that have the line", 0, func(p *Packet) any { return &p.Thread }}
	fCount  = &Field{"holders", "how many threads have it", 0, func(p *Packet) any { return &p.Value }}
	fOther  = &Field{"holder", "one of the other threads that have the line", 0, func(p *Packet) any { return &p.Thread }}
	fOthers = &Field{"holders", "how many others have it", 0, func(p *Packet) any { return &p.Value }}
	fImage  = &Field{"image", "number of snapshots in the second file by then", 0, func(p *Packet) any { return &p.Value }}
	fState  = &Field{"state", "register state after the event, empty: unchanged", 0, func(p *Packet) any { return &p.State }}
	fEntry  = &Field{"entry", "what line packets name it by, from 1", 0, func(p *Packet) any { return &p.Entry }}
	fPageBy = &Field{"page", "virtual address >> 12", wirePage, func(p *Packet) any { return &p.N }}
	fCommon = &Field{"alias", "equal for entries of one physical page under several virtual addresses, 0: none is known", 0, func(p *Packet) any { return &p.Alias }}
	fLine   = &Field{"line", "virtual address >> 6", wireLine, func(p *Packet) any { return &p.Line }}
	fData   = &Field{"data", "the line's 64 bytes", wireFull, func(p *Packet) any { return &p.Data }}
	fDataZ  = &Field{"data", "the line's 64 bytes, all zero", wireZero, func(p *Packet) any { return &p.Data }}
	fDataM  = &Field{"data", "the line's 64 bytes, mostly zero", wireMask, func(p *Packet) any { return &p.Data }}
	fSkip   = &Field{"skip", "reads before it, of the same instruction and since the last one logged, that were predicted", 0, func(p *Packet) any { return &p.Skip }}
	fRead   = &Field{"value", "what was read, extended with zeros", wireHex, func(p *Packet) any { return &p.Value }}
	fMask   = &Field{"mask", "bytes of the line that flow in, a bit each, the first lowest", wireFixed, func(p *Packet) any { return &p.Mask }}
	fOwn    = &Field{"own", "bytes that the thread didn't know and is about to write", wireFixed, func(p *Packet) any { return &p.Own }}
	fPart   = &Field{"bytes", "those of mask, the first first", 0, func(p *Packet) any { return &p.Bytes }}
	fRest64 = &Field{"bytes", "content, whole lines", 0, func(p *Packet) any { return &p.Bytes }}
	fPageNo = &Field{"page", "virtual address >> 12", wireHex, func(p *Packet) any { return &p.N }}
	fSame   = &Field{"same", "lines that hold what the thread last knew there, a bit each", wireFixed, func(p *Packet) any { return &p.Mask }}
	fZero   = &Field{"zero", "lines of which every byte is 0", wireFixed, func(p *Packet) any { return &p.Own }}
	fRest   = &Field{"bytes", "the other lines, in order", 0, func(p *Packet) any { return &p.Bytes }}
	fOf     = &Field{"of", "the thread that wrote it last", 0, func(p *Packet) any { return &p.Thread }}
	fAt     = &Field{"at", "its orderable event at which it gave the page up", 0, func(p *Packet) any { return &p.Value }}
	fNr     = &Field{"nr", "system call number", 0, func(p *Packet) any { return &p.Nr }}
	fArgs   = &Field{"args", "the six arguments", wireHex, func(p *Packet) any { return &p.Args }}
	fRel    = &Field{"releases", "objects released at entry", 0, func(p *Packet) any { return &p.Objs }}
	fAcq    = &Field{"acquires", "objects acquired at exit", 0, func(p *Packet) any { return &p.Objs }}
	fRet    = &Field{"ret", "result (RAX)", wireHex, func(p *Packet) any { return &p.Ret }}
	fReads  = &Field{"reads", "guest memory the kernel read", 0, func(p *Packet) any { return &p.Reads }}
	fWrites = &Field{"writes", "guest memory the kernel wrote", 0, func(p *Packet) any { return &p.Writes }}
	fWhat   = &Field{"what", "which instruction", 0, func(p *Packet) any { return &p.What }}
	fRegs   = &Field{"regs", "register values", wireHex, func(p *Packet) any { return &p.Regs }}
	fSigno  = &Field{"signo", "signal number", 0, func(p *Packet) any { return &p.Signo }}
	fCode   = &Field{"code", "si_code or error code", 0, func(p *Packet) any { return &p.Code }}
	fAddr   = &Field{"addr", "address", wireHex, func(p *Packet) any { return &p.Addr }}
	fClear  = &Field{"clear", "address that the kernel zeroed and woke, 0: none", wireHex, func(p *Packet) any { return &p.Addr }}
	fVector = &Field{"vector", "exception vector", 0, func(p *Packet) any { return &p.Vector }}
	fHash   = &Field{"hash", "hash of the register state", wireFixed, func(p *Packet) any { return &p.Hash }}
	fUnit   = &Field{"unit", "processing unit, from 0", 0, func(p *Packet) any { return &p.Unit }}
	fIn     = &Field{"in", "true: the thread gets the unit, false: it loses it", 0, func(p *Packet) any { return &p.In }}
	fIter   = &Field{"iter", "iterations done", 0, func(p *Packet) any { return &p.Iter }}
	fStatus = &Field{"status", "exit status", 0, func(p *Packet) any { return &p.Status }}
	fN      = &Field{"n", "bytes", wireHex, func(p *Packet) any { return &p.N }}
	fProt   = &Field{"prot", "PROT_* of mmap(2)", 0, func(p *Packet) any { return &p.Prot }}
	fShared = &Field{"shared", "MAP_SHARED", 0, func(p *Packet) any { return &p.Shared }}
	fPath   = &Field{"path", "file, or [heap], [stack], or empty", 0, func(p *Packet) any { return &p.Path }}
	fOffset = &Field{"offset", "in the file, bytes", wireHex, func(p *Packet) any { return &p.Offset }}
	fAlias  = &Field{"alias", "equal for mappings of the same shared memory, 0: none", 0, func(p *Packet) any { return &p.Alias }}
	fAliOff = &Field{"aliasoff", "offset in that shared memory, bytes", wireHex, func(p *Packet) any { return &p.AliasOffset }}
	fBase   = &Field{"base", "load address", wireHex, func(p *Packet) any { return &p.Addr }}
	fBuild  = &Field{"buildid", "hexadecimal, empty: none", 0, func(p *Packet) any { return &p.BuildID }}
	fSize   = &Field{"size", "of the file, bytes", 0, func(p *Packet) any { return &p.Size }}
	fMTime  = &Field{"mtime", "of the file, ns since 1970", 0, func(p *Packet) any { return &p.ModTime }}
	fPage   = &Field{"page", "address of the page", wireHex, func(p *Packet) any { return &p.Addr }}
	fPageOf = &Field{"hash", "hash of all of the page, 0: unknown", wireFixed, func(p *Packet) any { return &p.Hash }}
	fBytes  = &Field{"bytes", "content", 0, func(p *Packet) any { return &p.Bytes }}
	fLines  = &Field{"lines", "ranges of line numbers", 0, func(p *Packet) any { return &p.Lines }}
	fRanges = &Field{"ranges", "addresses and sizes", 0, func(p *Packet) any { return &p.Writes }}
	fCtrs   = &Field{"counters", "names and values", 0, func(p *Packet) any { return &p.Counters }}
	fName   = &Field{"name", "what is marked", 0, func(p *Packet) any { return &p.Name }}
	fValue  = &Field{"value", "a number", 0, func(p *Packet) any { return &p.Value }}
	fText   = &Field{"text", "free bytes", 0, func(p *Packet) any { return &p.Bytes }}
	fModule = &Field{"of", "if it is separate debugging information: the path of the module that it is of", 0, func(p *Packet) any { return &p.Name }}
	fFile   = &Field{"path", "where it was", 0, func(p *Packet) any { return &p.Path }}
	fSum    = &Field{"hash", "hash of all of it", wireFixed, func(p *Packet) any { return &p.Hash }}
	fWhole  = &Field{"content", "whether its content follows", 0, func(p *Packet) any { return &p.In }}
	fTotal  = &Field{"total", "instructions executed by all threads", 0, func(p *Packet) any { return &p.Total }}
)

// kindTable is the packet table: one row for each kind.
var kindTable = [numKinds]KindInfo{
	Start: {Where: InThread, Name: "start", Fields: []*Field{fThread, fParent, fMin, fState},
		Doc: "A thread starts. The first packet of its stream; state is complete."},
	Import: {Where: InThread, Name: "import", Fields: []*Field{fLine, fData},
		Doc: "A line flows in: from the next instruction on, the thread's memory holds these bytes."},
	importZero: {Where: InThread, Name: "import-zero", Form: Import, Fields: []*Field{fLine, fDataZ},
		Doc: "Short form of import: every byte is 0."},
	importMask: {Where: InThread, Name: "import-mask", Form: Import, Fields: []*Field{fLine, fDataM},
		Doc: "Short form of import: at most 32 bytes aren't 0."},
	Order: {Where: InThread, Name: "order", Fields: []*Field{fMin},
		Doc: "The next instruction is an orderable one: LOCK-prefixed, XCHG with memory, MFENCE, one that reads the clock, or whatever else the memory model orders."},
	SyscallEnter: {Where: InThread, Name: "syscall", Fields: []*Field{fMin, fNr, fArgs, fRel},
		Doc: "The next instruction is a system call, entered now."},
	SyscallExit: {Where: InThread, Name: "sysret", Fields: []*Field{fMin, fNr, fRet, fAcq, fReads, fWrites, fState},
		Doc: "The system call entered last returns. State is there only if registers other than RAX, RCX, R11 and RIP changed. What the kernel wrote flows in by later imports."},
	Nondet: {Where: InThread, Name: "nondet", Fields: []*Field{fWhat, fRegs},
		Doc: "What the next instruction, a non-deterministic one, puts in registers."},
	Signal: {Where: InThread, Name: "signal", Fields: []*Field{fMin, fSigno, fCode, fAddr, fFrom, fState},
		Doc: "A signal is delivered: state is that of the handler's first instruction."},
	Context: {Where: InThread, Name: "context", Fields: []*Field{fState},
		Doc: "Something else replaced the registers (rt_sigreturn, arch_prctl)."},
	Fault: {Where: InThread, Name: "fault", Fields: []*Field{fVector, fAddr, fCode},
		Doc: "The next instruction faults; nothing of it is done."},
	KeyFrame: {Where: InThread, Name: "keyframe", Fields: []*Field{fMin, fState},
		Doc: "Replay can start here: state is complete, and the thread knows no line; what it reads from here on is imported anew. Min is the last one before."},
	Hash: {Where: InThread, Name: "hash", Fields: []*Field{fHash},
		Doc: "The register state hashes to this."},
	Switch: {Where: InThread, Name: "switch", Fields: []*Field{fMin, fUnit, fIn},
		Doc: "The thread gets or loses a processing unit. The slices between in and out, in the order of min, are the whole execution."},
	Split: {Where: InThread, Name: "split", Fields: nil,
		Doc: "The next instruction, a read-modify-write without LOCK, is interrupted between load and store: the packets that follow, at this count, apply in between."},
	Rep: {Where: InThread, Name: "rep", Fields: []*Field{fIter},
		Doc: "The next instruction, a repeated string instruction, is interrupted after this many iterations since it began or was interrupted last; the packets that follow, at this count, apply then."},
	Exit: {Where: InThread, Name: "exit", Fields: []*Field{fMin, fStatus, fClear},
		Doc: "The thread ends. The last packet of its stream."},

	Read: {Where: InThread, Name: "read", Fields: []*Field{fSkip, fRead},
		Doc: "The next instruction reads a value that the log of reads (see there) didn't predict."},
	Part: {Where: InThread, Name: "part", Fields: []*Field{fLine, fMask, fOwn, fPart},
		Doc: "Some bytes of a line flow in; the others stay as the thread knows them, or unknown."},
	Page: {Where: InThread, Name: "page", Fields: []*Field{fPageNo, fSame, fZero, fRest},
		Doc: "The thread acquires a page: from the next instruction on, its memory holds these bytes."},
	PageFrom: {Where: InThread, Name: "pagefrom", Fields: []*Field{fPageNo, fOf, fAt},
		Doc: "The thread acquires a page that holds what another recorded thread left in it."},
	Fetch: {Where: InThread, Name: "fetch", Fields: []*Field{fLine, fSource, fSince},
		Doc: "A line flows in from another thread, to be read; only in traces whose logmode begins with ccp. Its bytes are those of the same line in the memory of the thread named, as its event since left them. A thread may name itself: the line was its own before a key frame."},
	FetchOwn: {Where: InThread, Name: "fetch-own", Fields: []*Field{fLine, fSource, fSince},
		Doc: "As fetch, but to be written: nobody else has the line afterwards."},
	FetchAs: {Where: InThread, Name: "fetch-as", Fields: []*Field{fLine, fSource, fSince, fTheirs, fOwned},
		Doc: "As fetch, but the thread named, or the thread itself, has the line under another virtual address: theirs."},

	Memory: {Where: InThread, Name: "memory", Fields: []*Field{fLine, fImage},
		Doc: "A line flows in that no thread has; only in traces whose logmode is ccp:memory. Its bytes are those of the last one of the first image snapshots in the second file that holds it."},

	Snoop: {Where: InThread, Name: "snoop", Fields: []*Field{fLine, fHolder, fCount},
		Doc: "A line flows in, to be read, that other threads have; only in traces whose logmode is ccp:readers. Its bytes are theirs; at which of their events isn't said."},
	SnoopOwn: {Where: InThread, Name: "snoop-own", Fields: []*Field{fLine, fHolder, fCount},
		Doc: "As snoop, but to be written: the others lose it."},
	Upgrade: {Where: InThread, Name: "upgrade", Fields: []*Field{fLine, fOther, fOthers},
		Doc: "The next instruction is the first to write a line that others have, too: they lose it."},
	TLB: {Where: InThread, Name: "tlb", Fields: []*Field{fEntry, fPageBy, fCommon},
		Doc: "From here on in the chunk, the lines of a page are named by an entry of the processing unit's translation buffer; see there. Replay needs it for nothing else."},
	Around: {Where: InThread, Name: "around", Fields: []*Field{fLine, fRest64},
		Doc: "Lines around the thread (its stack and control block) as they were at the key frame before, which makes that a full one. They don't flow in: what it reads of them is imported nevertheless."},

	Gap: {Where: InThread, Name: "gap", Fields: nil,
		Doc: "From here on the thread wasn't recorded: a key frame comes next, from which it was again, or its exit."},

	Map: {Where: InProcess, Name: "map", Fields: []*Field{fMin, fAddr, fN, fProt, fShared, fPath, fOffset, fAlias, fAliOff},
		Doc: "Memory is mapped, replacing what was there."},
	Unmap: {Where: InProcess, Name: "unmap", Fields: []*Field{fMin, fAddr, fN},
		Doc: "Memory is unmapped."},
	Protect: {Where: InProcess, Name: "protect", Fields: []*Field{fMin, fAddr, fN, fProt},
		Doc: "Memory changes its protection."},
	Module: {Where: InProcess, Name: "module", Fields: []*Field{fMin, fPath, fBase, fBuild, fSize, fMTime},
		Doc: "An ELF image is mapped."},
	Code: {Where: InProcess, Name: "code", Fields: []*Field{fMin, fPage, fBytes},
		Doc: "The content of a page of code, as executed from min on."},
	CodePage: {Where: InProcess, Name: "codepage", Fields: []*Field{fMin, fPage, fPageOf},
		Doc: "A page of code, as executed from min on, of which the trace has only what is executed: code-lines follow. Its content is that of the module's file."},
	CodeLines: {Where: InProcess, Name: "codelines", Fields: []*Field{fLine, fRest64},
		Doc: "Lines of the page that the last codepage with their address made known, before they are executed."},
	CodeOwn: {Where: InProcess, Name: "codeown", Fields: []*Field{fMin, fPage},
		Doc: "A page of code that from min on is executed as each thread's own memory holds it: lines that it hasn't flow in by imports before, for the instruction that follows. An import of a line of such a page applies at once, whether or not that instruction reads it."},
	Shared: {Where: InProcess, Name: "shared", Fields: []*Field{fLines},
		Doc: "Lines that two threads touched, one of them by writing. At the end of a complete trace; together they name all such lines."},
	Atomics: {Where: InProcess, Name: "atomics", Fields: []*Field{fRanges},
		Doc: "Operands of atomic instructions. At the end of a complete trace; together they name all."},
	Counters: {Where: InProcess, Name: "counters", Fields: []*Field{fCtrs},
		Doc: "What the hardware model counted."},
	Snapshot: {Where: InProcess, Name: "snapshot", Fields: []*Field{fMin, fAddr, fBytes},
		Doc: "Content of memory at min, for values that no thread ever read."},
	Mark: {Where: Anywhere, Name: "mark", Fields: []*Field{fName, fValue, fText},
		Doc: "An annotation. Replay ignores it."},
	ProcessExit: {Where: InProcess, Name: "processexit", Fields: []*Field{fMin, fStatus, fSigno, fTotal},
		Doc: "The process ended, by exit status or signal (0: none). The last packet of a complete trace."},

	File: {Where: InFiles, Name: "file", Fields: []*Field{fModule, fFile, fBuild, fSize, fMTime, fSum, fWhole},
		Doc: "A file that the program was made of: the module with the same path, build id, size and time, or its debugging information."},
	Content: {Where: InFiles, Name: "content", Fields: []*Field{fBytes},
		Doc: "The next bytes of the file before."},
}

// MarkDeadlock is the name of the mark, in the process stream, that says that
// the recording ended because every thread waited for ever; its text says for
// what.
const MarkDeadlock = "deadlock"

// MarkExec is the name of the mark, in the process stream, that says that
// another program took the place of the process's: its arguments, each with a
// zero byte behind it.
const MarkExec = "exec"

// The names of marks in threads' streams that tell of the recorded execution.
const (
	MarkUser     = "user"     // the program's own: value and text are its
	MarkTime     = "time"     // value: the guest's clock, ns since 1970
	MarkCounters = "counters" // value: the unit; text: name=number, separated by spaces
	MarkCounted  = "counted"  // of a ring; text: as of counters, for the thread, since it began
	MarkFault    = "fault"    // value: the address of a page that is accessed first
)

// MarkCut is the name of the mark, in the process stream, that says that the
// trace is a part of another, in which threads begin where they were then, at a
// key frame; its text says which part, its value the event with which it begins.
const MarkCut = "cut"

// MarkExperiment is the name of the mark, in the process stream, that says that
// the trace is of an experiment with sections of another; its text says which.
const MarkExperiment = "experiment"

// MarkFrame is the name of the marks, in the process stream, that give the call
// stack with which a thread of an experiment begins, outermost call first: the
// value is the thread, the text three 8-byte little-endian numbers: the
// function's entry, the calling instruction (0: none) and the address of the
// return address (all ones: none).
const MarkFrame = "frame"

func init() {
	for k := range kindTable {
		kindTable[k].Kind = Kind(k)
		withLine[k] = slices.Contains(kindTable[k].Fields, fLine)
	}
}

// Kinds returns the packet table, in the order of the numbers, short forms
// included.
func Kinds() []KindInfo {
	var r []KindInfo
	for _, k := range kindTable {
		if k.Name != "" {
			r = append(r, k)
		}
	}
	return r
}

func (k Kind) valid() bool { return k < numKinds && kindTable[k].Name != "" }

func (k Kind) String() string {
	if k.valid() {
		return kindTable[k].Name
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// hasLine says whether packets of the kind name a line.
func (k Kind) hasLine() bool { return withLine[k] }

var withLine [numKinds]bool

// HasMin says whether packets of the kind carry the number of an orderable
// event.
func (k Kind) HasMin() bool {
	if k.valid() {
		for _, f := range kindTable[k].Fields {
			if f == fMin {
				return true
			}
		}
	}
	return false
}
