package record

import (
	"bytes"

	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// images are what a recording in LogCCPMemory has beside its trace: a second
// file with snapshots of memory, from which comes what no thread has. A page is
// put there when a line of it is first missed, and again, as far as it changed,
// when a line is missed that something else than a thread has written since.
type images struct {
	path  string // of the trace
	head  traces.Header
	w     *traces.Writer // nil: nothing was put
	n     uint64         // snapshots put
	pages map[uint64]*[linux.PageSize]byte
}

// image returns the number of snapshots of which the last one that holds the
// line has its present bytes, having put those that are needed.
func (r *recorder) image(line uint64, data *[linux.PageSize]byte) (uint64, error) {
	m := r.images
	page := line / linesPerPage
	old := m.pages[page]
	from := line % linesPerPage * hwmodel.LineSize
	if old != nil && bytes.Equal(old[from:from+hwmodel.LineSize], data[from:from+hwmodel.LineSize]) {
		return m.n, nil
	}
	if old == nil {
		old = new([linux.PageSize]byte)
		m.pages[page] = old
		*old = *data
		err := r.snapshot(page<<pageShift, data[:])
		return m.n, err
	}
	for at := 0; at < linux.PageSize; {
		end := at
		for end < linux.PageSize && !bytes.Equal(old[end:end+hwmodel.LineSize], data[end:end+hwmodel.LineSize]) {
			end += hwmodel.LineSize
		}
		if end > at {
			if err := r.snapshot(page<<pageShift+uint64(at), data[at:end]); err != nil {
				return 0, err
			}
		}
		at = end + hwmodel.LineSize
	}
	*old = *data
	return m.n, nil
}

// snapshot puts bytes of memory in the second file.
func (r *recorder) snapshot(addr uint64, b []byte) error {
	m := r.images
	if m.w == nil {
		h := m.head
		h.LogMode = "images"
		w, err := traces.Create(m.path+traces.ImagesSuffix, h)
		if err != nil {
			return err
		}
		m.w = w
	}
	m.n++
	return m.w.Put(0, 0, &traces.Packet{Kind: traces.Snapshot, Min: r.min, Addr: addr, Bytes: b})
}

// close ends the second file.
func (m *images) close() error {
	if m == nil || m.w == nil {
		return nil
	}
	return m.w.Close()
}
