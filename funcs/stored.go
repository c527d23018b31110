package funcs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/zeebo/xxh3"
)

// A Stored is a file that a trace knows.
type Stored struct {
	Path    string
	Content io.ReaderAt // nil: the trace knows only what follows
	Hash    uint64      // XXH3 of the content
}

// changed says how the file of a module differs from the one recorded, of which
// st, if it isn't nil, has the hash; "" if it doesn't.
func changed(o *object, im Image, st *Stored) string {
	if o.buildID != im.BuildID && (o.buildID != "" && im.BuildID != "" || st != nil) {
		return fmt.Sprintf("build id %s, recorded %s", orNone(o.buildID), orNone(im.BuildID))
	}
	if im.BuildID != "" && o.buildID != "" {
		return ""
	}
	f, err := os.Open(im.Path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err.Error()
	case im.Size != 0 && info.Size() != im.Size:
		return fmt.Sprintf("%d bytes, recorded %d", info.Size(), im.Size)
	case st == nil || im.ModTime == 0 || info.ModTime().UnixNano() == im.ModTime:
		return ""
	}
	h := xxh3.New()
	if _, err := io.Copy(h, f); err != nil {
		return err.Error()
	}
	if h.Sum64() != st.Hash {
		return fmt.Sprintf("hash %016x, recorded %016x", h.Sum64(), st.Hash)
	}
	return ""
}

// writtenLater says whether a module's file has another time than recorded.
func writtenLater(im Image) bool {
	st, err := os.Stat(im.Path)
	return err == nil && im.ModTime != 0 && st.ModTime().UnixNano() != im.ModTime
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// stored returns what the trace has of a module's file, nil if nothing.
func (ms *Modules) stored(im Image, debug bool) *Stored {
	if ms.opt.Stored == nil {
		return nil
	}
	return ms.opt.Stored(im, debug)
}

// Availability says in a few words whether there is a file that tells about a
// module of a trace: "embedded", "here", or what is wrong.
func Availability(im Image, st *Stored) string {
	if st != nil && st.Content != nil {
		return "embedded"
	}
	o, err := openObject(im.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return "not here"
	}
	if err != nil {
		return "not usable here"
	}
	defer o.close()
	if why := changed(o, im, st); why != "" {
		return "changed here: " + why
	}
	return "here"
}
