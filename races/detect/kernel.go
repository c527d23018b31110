package detect

import "github.com/racesim/racesim/traces"

// Which pages system calls wrote to: what is there isn't what was mapped, even
// if no thread has looked at it.

// kernelWrote notes what a system call wrote.
func (t *ThreadTrack) kernelWrote(rs []traces.Range) {
	for _, r := range rs {
		for p := r.Addr >> 12; r.N > 0 && p <= (r.Addr+r.N-1)>>12; p++ {
			if t.kernel == nil {
				t.kernel = map[uint64]struct{}{}
			}
			t.kernel[p] = struct{}{}
		}
	}
}

// KernelWrote reports whether any system call of the recording wrote to the
// page of an address.
func (p *Pass) KernelWrote(addr uint64) bool {
	for _, t := range p.Threads {
		if _, ok := t.kernel[addr>>12]; ok {
			return true
		}
	}
	return false
}
