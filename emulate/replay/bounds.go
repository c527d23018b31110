package replay

import (
	"fmt"

	"github.com/racesim/racesim/traces"
)

// What packets say of memory is bounded before anything loops over it: the
// recorder writes nothing else, but a damaged trace may.
const (
	userEnd   = 1 << 47 // of user memory, with four levels of page tables (Intel SDM volume 3, 4.5)
	maxKernel = 1 << 32 // bytes that a system call reads or writes: more than read(2) can, MAX_RW_COUNT, twice
	maxShared = 1 << 28 // lines that threads share: 16 GiB
)

// checkRange says what is wrong with a range of user memory.
func checkRange(p *traces.Packet, addr, n uint64) error {
	if addr > userEnd || n > userEnd-addr {
		return fmt.Errorf("replay: %v packet at min %d: %d bytes at %#x, beyond user memory", p.Kind, p.Min, n, addr)
	}
	return nil
}

// checkProcess says what is wrong with a packet of the process; shared counts
// the lines that threads share.
func checkProcess(p *traces.Packet, shared *uint64) error {
	switch p.Kind {
	case traces.Map, traces.Unmap, traces.Protect:
		return checkRange(p, p.Addr, p.N)
	case traces.Code:
		if len(p.Bytes) > PageSize {
			return fmt.Errorf("replay: code packet at min %d: %d bytes, maximum %d", p.Min, len(p.Bytes), PageSize)
		}
		return checkRange(p, p.Addr, PageSize)
	case traces.CodePage, traces.CodeOwn:
		return checkRange(p, p.Addr, PageSize)
	case traces.CodeLines:
		if p.Line > userEnd/64 {
			return fmt.Errorf("replay: codelines packet of line %#x, beyond user memory", p.Line)
		}
	case traces.Snapshot:
		return checkRange(p, p.Addr, uint64(len(p.Bytes)))
	case traces.Shared:
		for _, l := range p.Lines {
			if l.First > userEnd/64 || l.N > userEnd/64-l.First {
				return fmt.Errorf("replay: shared packet: %d lines at %#x, beyond user memory", l.N, l.First<<6)
			}
			if *shared += l.N; *shared > maxShared {
				return fmt.Errorf("replay: shared packet: %d lines, maximum %d", *shared, maxShared)
			}
		}
	}
	return nil
}

// checkKernel says what is wrong with what a system call read and wrote.
func checkKernel(p *traces.Packet) error {
	for _, rs := range [][]traces.Range{p.Reads, p.Writes} {
		sum := uint64(0)
		for _, r := range rs {
			if err := checkRange(p, r.Addr, r.N); err != nil {
				return err
			}
			if sum += r.N; sum > maxKernel {
				return fmt.Errorf("replay: %v packet at min %d: system call %d of %d bytes, maximum %d", p.Kind, p.Min, p.Nr, sum, uint64(maxKernel))
			}
		}
	}
	return nil
}
