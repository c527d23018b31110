package replay

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// An imageLine is a line's bytes in one of the snapshots of a second file.
type imageLine struct {
	n    uint64 // of the snapshot, from 1
	data *[hwmodel.LineSize]byte
}

// readImages reads the file beside a trace of log mode ccp:memory. One that
// isn't there is missed when something of it is needed.
func (s *Session) readImages() error {
	s.images = map[uint64][]imageLine{}
	if s.r.Path() == "" {
		return errors.New("replay: the trace has its values in a second file, and no name to find that by")
	}
	r, err := traces.Open(s.r.ImagesPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	cur, n := r.Cursor(0), uint64(0)
	for {
		p, err := cur.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.Path(), err)
		}
		if p.Kind != traces.Snapshot {
			continue
		}
		n++
		b := append([]byte(nil), p.Bytes...)
		for line := p.Addr >> hwmodel.LineShift; len(b) >= hwmodel.LineSize; line++ {
			s.images[line] = append(s.images[line], imageLine{n, (*[hwmodel.LineSize]byte)(b)})
			b = b[hwmodel.LineSize:]
		}
	}
}

// imageOf returns a line as the first n snapshots leave it, nil if none of them
// has it.
func (s *Session) imageOf(line, n uint64) *[hwmodel.LineSize]byte {
	l := s.images[line]
	i := sort.Search(len(l), func(i int) bool { return l[i].n > n })
	if i == 0 {
		return nil
	}
	return l[i-1].data
}

// image returns the bytes that a Memory packet means, nil after an error.
func (t *Thread) image(p *traces.Packet) *[hwmodel.LineSize]byte {
	d := t.s.imageOf(p.Line, p.Value)
	switch {
	case d != nil:
	case t.s.r.Incomplete() != "":
		t.fail(io.EOF) // the second file ends earlier
	default:
		t.fail(fmt.Errorf("replay: thread %d, instruction %d: line %v in the first %d snapshots, which %s doesn't have: it belongs beside the trace",
			t.id, p.Count, emulate.Addr(p.Line<<hwmodel.LineShift), p.Value, t.s.r.ImagesPath()))
	}
	return d
}
