package overlay

import (
	"fmt"

	"github.com/racesim/racesim/emulate/linux"
)

// An Answer is what the user says that a system call gives which experiments
// can't make up.
type Answer struct {
	Ret int64 // the result; a negative error number if it fails
	// Data is what the kernel writes to the call's buffer, as far as that is
	// large enough: then the result is the number of bytes. nil: nothing.
	Data []byte
}

// Buffer returns which arguments are the buffer that system call nr fills, and
// its size; ok is false if it fills none.
func Buffer(nr uint64) (buf, size int, ok bool) {
	switch nr {
	case 0, 17, 45, 89: // read, pread64, recvfrom, readlink
		return 1, 2, true
	case 79, 318: // getcwd, getrandom
		return 0, 1, true
	case 267: // readlinkat
		return 2, 3, true
	}
	return 0, 0, false
}

// Answers says what system calls give that were not recorded, by number: each
// participant's first such call gets the first answer and so on, further ones
// the last.
func (r *Run) Answers(by map[uint64][]Answer) { r.answers = by }

// answered gives a system call the user's answer, if there is one.
func (p *participant) answered(nr uint64, args [6]uint64) bool {
	as := p.run.answers[nr]
	if len(as) == 0 {
		return false
	}
	if p.asked == nil {
		p.asked = map[uint64]int{}
	}
	a := as[min(p.asked[nr], len(as)-1)]
	p.asked[nr]++
	ret := uint64(a.Ret)
	var wrote []Span
	if buf, size, ok := Buffer(nr); ok && a.Data != nil {
		n := min(uint64(len(a.Data)), args[size])
		for i := range n {
			p.fill(args[buf]+i, 1, a.Data[i])
		}
		ret, wrote = n, []Span{{args[buf], n}}
	}
	p.returns(ret, wrote)
	return true
}

// CallName returns the name of a system call.
func CallName(nr uint64) string {
	if s := linux.SyscallName(nr); s != "" {
		return s
	}
	return fmt.Sprintf("system call %d", nr)
}

// Takes returns the number of a system call's arguments.
func (c *Call) Takes() int {
	n := linux.SyscallArgs(c.NR)
	if n < 0 {
		return len(c.Args)
	}
	return n
}

// unheard describes a system call whose result isn't known.
func unheard(nr uint64) string {
	return fmt.Sprintf("%s with arguments that were not recorded (--syscall %s=… answers it)", CallName(nr), CallName(nr))
}
