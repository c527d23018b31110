package emulate

import "fmt"

// An Addr is a guest virtual address.
type Addr uint64

// Line returns the number of the cache line that holds a.
func (a Addr) Line() uint64 { return uint64(a) >> 6 }

// Page returns the number of the 4 KiB page that holds a.
func (a Addr) Page() uint64 { return uint64(a) >> 12 }

func (a Addr) String() string { return fmt.Sprintf("0x%x", uint64(a)) }

// A ThreadID names a guest thread within one recording: 1 is the main thread,
// the others follow in the order of their creation. 0 is no thread.
type ThreadID uint32

// A Count is a number of executed instructions of one thread since its start.
// A repeated string instruction counts once, when it ends.
type Count uint64

// A Position names one instruction of one thread: the Steps-th instruction
// after the orderable event number Sequence of that thread. It prints as
// thread:sequence:steps.
type Position struct {
	Thread   ThreadID
	Sequence uint64
	Steps    uint64
}

func (p Position) String() string {
	return fmt.Sprintf("%d:%d:%d", p.Thread, p.Sequence, p.Steps)
}

// ParsePosition reads what Position.String printed.
func ParsePosition(s string) (Position, error) {
	var p Position
	var rest string
	n, _ := fmt.Sscanf(s+" .", "%d:%d:%d %s", &p.Thread, &p.Sequence, &p.Steps, &rest)
	if n != 4 || rest != "." {
		return Position{}, fmt.Errorf("position %q: want thread:sequence:steps, three decimal numbers", s)
	}
	return p, nil
}
