package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/traces"
)

// An Embed says of which modules a trace holds the files, so that it can be
// analysed where they aren't.
type Embed uint8

const (
	// EmbedOwn: of those that don't belong to the distribution; see OfDistribution.
	EmbedOwn Embed = iota
	EmbedAll
	EmbedNone
)

// ParseEmbed reads what String writes; "" is the default, own.
func ParseEmbed(s string) (Embed, error) {
	for e := EmbedOwn; e <= EmbedNone; e++ {
		if s == e.String() || s == "" {
			return e, nil
		}
	}
	return 0, fmt.Errorf("embed %q: want own, all or none", s)
}

func (e Embed) String() string { return [...]string{"own", "all", "none"}[e] }

// Takes says whether the file of a module is to be embedded.
func (e Embed) Takes(path string) bool {
	return e == EmbedAll || e == EmbedOwn && !OfDistribution(path)
}

// maxEmbedded is the size of the largest file that is embedded, in bytes.
const maxEmbedded = 1 << 30

// distribution are the folders that belong to the distribution, by the
// Filesystem Hierarchy Standard 3.0, 4.1 and 4.9, and the stores of Nix and
// Guix. Asking package managers would take longer than many recordings.
var distribution = []string{"/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/", "/nix/store/", "/gnu/store/"}

// OfDistribution says whether a file belongs to the distribution, which has it
// and its debugging information for everybody: it lies below /usr, but not
// /usr/local, or in another of the system's folders.
func OfDistribution(path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if strings.HasPrefix(path, "/usr/local/") {
		return false
	}
	for _, d := range distribution {
		if strings.HasPrefix(path, d) {
			return true
		}
	}
	return false
}

// A moduleFile identifies the file of a module.
type moduleFile struct {
	path, buildID string
	size, mtime   int64
}

// embed puts the file of a module in the trace, and its separate debugging
// information, unless the recording has it. Of what isn't embedded and has no
// build id, the hash is kept.
func (r *recorder) embed(m linux.Module) {
	id := moduleFile{m.Path, m.BuildID, m.Size, m.ModTime}
	if r.ended || r.known[id] || m.Path == "" {
		return
	}
	r.known[id] = true
	take := r.embeds.Takes(m.Path)
	if !take && m.BuildID != "" {
		return
	}
	r.embedFile(traces.FileInfo{Path: m.Path, BuildID: m.BuildID, Size: m.Size, ModTime: m.ModTime}, take)
	if !take || r.cfg.DebugFile == nil {
		return
	}
	if d := r.cfg.DebugFile(m.Path); d != "" && r.embeds.Takes(d) {
		st, err := os.Stat(d)
		if err == nil {
			r.embedFile(traces.FileInfo{Of: m.Path, Path: d, BuildID: m.BuildID, Size: st.Size(), ModTime: st.ModTime().UnixNano()}, true)
		}
	}
}

// embedFile puts a file in the trace, or only its hash. One that can't be read
// is missed, in the recording's result.
func (r *recorder) embedFile(info traces.FileInfo, whole bool) {
	miss := func(format string, args ...any) {
		if whole {
			r.unembedded = append(r.unembedded, info.Path+": "+fmt.Sprintf(format, args...))
		}
	}
	f, err := os.Open(info.Path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		miss("%v", err)
		return
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		miss("%v", err)
		return
	case !st.Mode().IsRegular() || st.Size() != info.Size || st.ModTime().UnixNano() != info.ModTime:
		miss("it isn't the file any more that was mapped")
		return
	case st.Size() > maxEmbedded:
		miss("%d bytes, maximum %d", st.Size(), int64(maxEmbedded))
		return
	}
	if info.Hash, _, err = traces.HashFile(f); err != nil {
		miss("%v", err)
		return
	}
	if whole {
		err = r.w.PutFile(info, f)
	} else {
		err = r.w.PutFile(info, nil)
	}
	if err != nil {
		r.failed(err)
	}
}
