package racesim

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// MinMemory is the least that an analysis can be given, in bytes.
const MinMemory = 256 << 20

// maxDefaultMemory is what an analysis takes at most unless it is told otherwise.
const maxDefaultMemory = 4 << 30

// DefaultMemory returns what an analysis may take unless it is told otherwise,
// in bytes: 4 GiB, or half of what this machine or its control group has.
func DefaultMemory() int64 {
	have := uint64(2 * maxDefaultMemory)
	var si syscall.Sysinfo_t
	if syscall.Sysinfo(&si) == nil {
		have = min(have, uint64(si.Totalram)*uint64(si.Unit))
	}
	for _, f := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if b, err := os.ReadFile(f); err == nil {
			if n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64); err == nil {
				have = min(have, n)
			}
		}
	}
	return max(int64(have/2), MinMemory)
}

// memory returns what the analysis may take, in bytes.
func (o *AnalyzeOptions) memory() int64 {
	if o.Memory > 0 {
		return max(o.Memory, MinMemory)
	}
	return DefaultMemory()
}

// limitMemory makes the garbage collector work harder as the process comes near
// n bytes, until undo is called. A lower limit that there is already stays.
func limitMemory(n int64) (undo func()) {
	old := debug.SetMemoryLimit(-1)
	if n < old {
		debug.SetMemoryLimit(n)
	}
	return func() { debug.SetMemoryLimit(old) }
}

// forMemory notes what was left out for want of memory.
func (a *analysis) forMemory() {
	const why = "for want of memory (--memory)"
	if f := a.pass.Detector.Forgot(); f.Old {
		a.note("accesses to memory that wasn't used for long were forgotten: races with them may be missing, %s", why)
	} else if f.Sites {
		a.note("only the last instruction of each thread that accessed a byte was remembered, %s", why)
	}
	p := a.pass.Predictor
	if p == nil {
		return
	}
	g := p.Given()
	switch {
	case g.Ended:
		a.note("other orders of the critical sections were looked at only up to a point in the recording, %s", why)
	case g.Old:
		a.note("in other orders of the critical sections, accesses to memory that wasn't used for long were left out, %s", why)
	case g.History > 0:
		a.note("in other orders of the critical sections, only the last accesses of each thread to each place were looked at (%d of them), %s", g.History, why)
	}
}
