package detect

import "github.com/racesim/racesim/traces"

// What system calls wrote isn't what was mapped, even if no thread has looked at
// it: noted by lines, or by pages if it is much.

// fewLines is the number of bytes up to which lines are noted.
const fewLines = 4096

// kernelWrote notes what a system call wrote.
func (t *ThreadTrack) kernelWrote(rs []traces.Range) {
	for _, r := range rs {
		if r.N == 0 {
			continue
		}
		if t.kernel == nil {
			t.kernel, t.kernelLines = map[uint64]struct{}{}, map[uint64]struct{}{}
		}
		to, shift := t.kernel, pageShift
		if r.N <= fewLines {
			to, shift = t.kernelLines, lineShift
		}
		for p := r.Addr >> shift; p <= (r.Addr+r.N-1)>>shift; p++ {
			to[p] = struct{}{}
		}
	}
}

// KernelWrote reports whether a system call of the recording may have written to
// the line of an address.
func (p *Pass) KernelWrote(addr uint64) bool {
	for _, t := range p.Threads {
		if _, ok := t.kernel[addr>>pageShift]; ok {
			return true
		}
		if _, ok := t.kernelLines[addr>>lineShift]; ok {
			return true
		}
	}
	return false
}
