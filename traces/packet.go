package traces

// LineSize is the number of bytes that an Import carries.
const LineSize = 64

// A Packet is one entry of a stream. Kind says which of the other fields mean
// something (see Kinds); the rest are zero or left over and must not be read.
//
// A Packet from a Cursor is reused: it and everything it points to are good
// until the cursor's next call, and must not be changed.
type Packet struct {
	Kind  Kind
	Count uint64 // instructions the thread had executed; set by Put and Next. 0 in stream 0
	Delta uint64 // of them since the stream's previous packet; set by Put and Next

	Min    uint64 // number of the orderable event, unique in the recording
	Thread uint32 // thread started; sender of a signal (0: kernel or outside); source of a line
	Since  uint64 // the source's last orderable event
	Parent uint32
	Unit   uint32 // processing unit
	In     bool

	// Entry is the TLB entry by which the stream names Line's page, 0: none, and
	// Alias the number common to all entries of that physical page. A Writer puts
	// the TLB packet that they need. Of a TLB packet: the entry itself.
	Entry uint64

	State []byte          // register state, opaque here
	Line  uint64          // virtual address >> 6
	Data  *[LineSize]byte // of a Part from a Cursor: Bytes in their places, else 0

	Skip uint64 // reads before this one that were predicted
	Mask uint64 // bytes of a line, or lines of a page
	Own  uint64 // more of them, see the kind

	Nr    uint64 // system call number
	Args  [6]uint64
	Ret   uint64
	Objs  []Object // released at entry, acquired at exit
	Reads []Range  // guest memory that the kernel read
	// Writes is guest memory that the kernel wrote. In Atomics, the operands
	// of atomic operations; in Code and Snapshot unused.
	Writes []Range

	What   uint8    // Nondet: which instruction
	Regs   []uint64 // Nondet: values, in the order that What defines
	Signo  int32
	Code   int32 // si_code; error code of a fault
	Vector uint8
	Addr   uint64 // fault, mapping, module, page address, cleared word, …
	Hash   uint64 // of registers, a file, a page of code
	Iter   uint64 // iterations done of a repeated string instruction
	Status int32  // exit status of a thread or process

	N           uint64 // bytes
	Prot        int32  // PROT_* of mmap(2)
	Shared      bool
	Path        string
	Offset      uint64 // in the file
	Alias       uint64 // equal for mappings, or TLB entries, of the same memory, 0: none
	AliasOffset uint64

	BuildID string
	Size    int64 // bytes
	ModTime int64 // ns since 1970

	Bytes    []byte      // code page, snapshot, text of a mark
	Lines    []LineRange // shared lines
	Counters []Counter
	Name     string
	Value    uint64
	Total    uint64 // instructions executed by all threads
}

// An Object is what a system call synchronises on; the kinds are the
// recorder's.
type Object struct {
	Kind uint8
	ID   uint64
}

// A Range is N bytes of guest memory from Addr.
type Range struct{ Addr, N uint64 }

// A LineRange is N lines from line number First.
type LineRange struct{ First, N uint64 }

// A Counter is one named number.
type Counter struct {
	Name  string
	Value uint64
}

// clone copies p and every list that a cursor reuses. State, Bytes and full
// lines point into a chunk, which never changes.
func (p *Packet) clone(scratch *[LineSize]byte, own *[LineSize]byte) Packet {
	q := *p
	q.Objs = append([]Object(nil), p.Objs...)
	q.Reads = append([]Range(nil), p.Reads...)
	q.Writes = append([]Range(nil), p.Writes...)
	q.Regs = append([]uint64(nil), p.Regs...)
	q.Lines = append([]LineRange(nil), p.Lines...)
	q.Counters = append([]Counter(nil), p.Counters...)
	if p.Data == scratch {
		*own = *scratch
		q.Data = own
	}
	return q
}
