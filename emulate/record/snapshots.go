package record

import (
	"fmt"
	"strings"

	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/traces"
)

// Snapshots say when the whole memory is put in the trace, so that what no
// thread ever reads is known, too.
type Snapshots uint8

const (
	SnapshotStart Snapshots = 1 << iota // before the first instruction
	SnapshotEnd                         // when the process has ended
	SnapshotMark                        // at the program's marks of the name "snapshot"
)

var snapshotNames = []string{"start", "end", "mark"}

// ParseSnapshots reads names, separated by commas; "" is none.
func ParseSnapshots(s string) (w Snapshots, err error) {
	for _, name := range strings.Split(s, ",") {
		if name == "" && s == "" {
			return 0, nil
		}
		ok := false
		for i, n := range snapshotNames {
			if n == name {
				w, ok = w|1<<i, true
			}
		}
		if !ok {
			return 0, fmt.Errorf("snapshot %q: want some of %s", name, strings.Join(snapshotNames, ","))
		}
	}
	return w, nil
}

// maxSnapshotPages bounds the pages of a mapping that are looked through:
// larger ones are reserved, not used.
const maxSnapshotPages = 1 << 24

// wholeMemory puts the content of all memory in the process stream: of files
// all that is mapped, of other memory what was ever touched and isn't 0.
func (r *recorder) wholeMemory() {
	for _, m := range r.as.Mappings() {
		if m.N>>pageShift > maxSnapshotPages {
			continue
		}
		var run []byte // pages that follow one another
		var at uint64
		flush := func() {
			if len(run) > 0 {
				r.put(0, 0, &traces.Packet{Kind: traces.Snapshot, Min: r.min, Addr: at, Bytes: run})
			}
			run = run[:0]
		}
		for a, end := uint64(m.Addr), uint64(m.Addr)+m.N; a < end; a += linux.PageSize {
			var f *linux.Frame
			if r.as.Present(a>>pageShift) || strings.HasPrefix(m.Path, "/") {
				f, _ = r.as.Translate(a>>pageShift, false)
			}
			if f == nil || *f.Data == [linux.PageSize]byte{} && !strings.HasPrefix(m.Path, "/") {
				flush()
				continue
			}
			if len(run) == 0 {
				at = a
			}
			if run = append(run, f.Data[:]...); len(run) == traces.MaxBytes {
				flush()
			}
		}
		flush()
	}
}
