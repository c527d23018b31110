package x86

import "testing"

// fetchLog notes the lines that are fetched, and at which instruction.
type fetchLog struct {
	at    []uint64
	lines [][2]uint64
	stop  bool
}

func (l *fetchLog) Fetch(c *CPU, first, last uint64) {
	if l.stop {
		l.stop = false
		Raise(&Stop{Kind: StopYield})
	}
	l.at = append(l.at, c.InstrCount())
	l.lines = append(l.lines, [2]uint64{first, last})
}

// acrossLines is a loop of 100 rounds whose body begins 4 bytes before the end of
// a line, and then a system call.
func acrossLines() []byte {
	code := make([]byte, 60)
	for i := range code {
		code[i] = 0x90
	}
	// 1: add $1, %rax; add $1, %rbx; cmp $100, %rax; jne 1b; syscall
	return append(code, 0x48, 0x83, 0xC0, 1, 0x48, 0x83, 0xC3, 1, 0x48, 0x83, 0xF8, 100, 0x75, 0xF2, 0x0F, 0x05)
}

// Whatever the pieces in which code is executed, its lines are fetched before
// them, and nothing else changes.
func TestFetchesComeBeforeTheirCode(t *testing.T) {
	for _, step := range []uint64{1, 2, 3, 7, 50, 1e6} {
		c, _, _ := machineWith(acrossLines()...)
		log := &fetchLog{}
		c.Fetches = log
		c.Blocks.WatchFetches(func(page uint64) bool { return page == codeBase>>pageShift })
		for {
			s := c.Run(step)
			if s.Kind == StopSyscall {
				break
			}
			mustStop(t, s, StopLimit)
		}
		if c.Count != 60+400 || c.R[RAX] != 100 || c.R[RBX] != 100 {
			t.Fatalf("in steps of %d: Count %d, RAX %d, RBX %d", step, c.Count, c.R[RAX], c.R[RBX])
		}
		// Which lines each instruction is on, and what was fetched for it.
		const line = codeBase >> lineShift
		k := -1
		for n := uint64(0); n < c.Count; n++ {
			for k+1 < len(log.at) && log.at[k+1] <= n {
				k++
			}
			want := uint64(line)
			if n > 60 && (n-60)%4 != 0 {
				want++
			}
			if k < 0 || log.lines[k][0] > want || log.lines[k][1] < want {
				t.Fatalf("in steps of %d: instruction %d is on line %#x, fetched was %#x at %d", step, n, want, log.lines[max(k, 0)], log.at[max(k, 0)])
			}
		}
		if step > 1e5 && len(log.at) > 103 {
			t.Errorf("%d fetches of 101 blocks", len(log.at))
		}
	}
}

// What isn't watched isn't told, and a FetchSink that stops the processor does so
// before the block.
func TestFetchSinkStops(t *testing.T) {
	c, _, _ := machineWith(acrossLines()...)
	log := &fetchLog{stop: true}
	c.Fetches = log
	c.Blocks.WatchFetches(func(page uint64) bool { return false })
	mustStop(t, c.Run(1e6), StopSyscall)
	if len(log.at) != 0 {
		t.Fatalf("%d fetches that nobody wants", len(log.at))
	}
	c, _, _ = machineWith(acrossLines()...)
	c.Fetches = log
	c.Blocks.WatchFetches(func(page uint64) bool { return true })
	mustStop(t, c.Run(1e6), StopYield)
	if c.Count != 0 || c.RIP != codeBase {
		t.Errorf("stopped at instruction %d, RIP %#x", c.Count, c.RIP)
	}
	mustStop(t, c.Run(1e6), StopSyscall)
	if c.Count != 460 || c.R[RBX] != 100 {
		t.Errorf("then Count %d, RBX %d", c.Count, c.R[RBX])
	}
}
