package racesim

import (
	"bufio"
	"os"
	"strings"
	"time"

	"github.com/racesim/racesim/report"
)

// Bounds of what Quote reads.
const (
	maxQuoted    = 16 << 20 // bytes of a source file
	maxQuoteLine = 120      // characters of a line
)

// Quote adds to the accesses of a report the source lines that they are on, as
// far as the files are there and haven't changed since the time recorded.
func Quote(r *report.Report, recorded time.Time) {
	files := map[string][]string{}
	for i := range r.Races {
		for k := range r.Races[i].Accesses {
			a := &r.Races[i].Accesses[k]
			if a.File == "" || a.Line < 1 {
				continue
			}
			lines, ok := files[a.File]
			if !ok {
				lines = sourceLines(a.File, recorded)
				files[a.File] = lines
			}
			if a.Line <= len(lines) {
				a.Code = lines[a.Line-1]
			}
		}
	}
}

// sourceLines returns the lines of a file without the space around them, nil
// if there is no such file or it is younger than the recording.
func sourceLines(path string, recorded time.Time) []string {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxQuoted || st.ModTime().After(recorded) {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, maxQuoted)
	for s.Scan() {
		l := []rune(strings.TrimSpace(strings.ToValidUTF8(s.Text(), "?")))
		if len(l) > maxQuoteLine {
			l = append(l[:maxQuoteLine-1], '…')
		}
		out = append(out, string(l))
	}
	return out
}
