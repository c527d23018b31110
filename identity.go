package racesim

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// What a race is called from run to run, with every seed and in other builds.
// The first half of an identifier says which variable and which two functions:
// it survives whatever is edited elsewhere. The second half tells races of the
// same functions apart, by the text of their lines where the sources are there.

// A side is what an identifier knows of an access.
type side struct {
	function string // with the file
	mark     string // of the place in it
}

// identify gives a race its identifier, from the pair of accesses that it was
// described by.
func (a *analysis) identify(r *report.Race, where string, p *races.Pair) {
	r.ID = fingerprint(where, [2]side{a.side(&p.First), a.side(&p.Second)})
}

// fingerprint is an identifier: twelve hexadecimal digits, a dash, four more.
func fingerprint(where string, s [2]side) string {
	sort.Slice(s[:], func(i, j int) bool {
		if s[i].function != s[j].function {
			return s[i].function < s[j].function
		}
		return s[i].mark < s[j].mark
	})
	return fmt.Sprintf("%012x-%04x", xxh3.HashString(where+"\n"+s[0].function+"\n"+s[1].function)>>16,
		xxh3.HashString(s[0].mark+"\n"+s[1].mark)>>48)
}

func (a *analysis) side(x *races.Access) side {
	f := a.ownFrame(x)
	s := side{function: a.functionID(f) + "|" + filepath.Base(f.File)}
	if x.Kind == races.Free {
		s.function += "|free"
	}
	_, index, known := a.ms.Shape(f.PC)
	switch text := a.sourceText(f.File, f.Line); {
	case text != "":
		s.mark = strings.Join(strings.Fields(text), " ")
	case f.Line > 0 && f.Decl > 0 && f.Line >= f.Decl:
		s.mark = fmt.Sprintf("+%d", f.Line-f.Decl)
	case f.Line == 0 && known:
		s.mark = fmt.Sprintf("#%d", index)
	}
	return s
}

// functionID names a function in every build: one without a symbol by its code.
func (a *analysis) functionID(f funcs.Frame) string {
	r := reportFrame(f)
	if !r.Unnamed() {
		return f.Function
	}
	if shape, _, ok := a.ms.Shape(f.PC); ok {
		return fmt.Sprintf("%s:%x", filepath.Base(f.Module), shape)
	}
	return f.Function
}

// indexed are the parts of a symbol that vary: elements of arrays, and the
// numbers that compilers give to local statics.
var indexed = regexp.MustCompile(`\[\d+\]|\.\d+$`)

// where says what memory a race is about, without what varies.
func (a *analysis) where(c *races.Candidate, l *report.Location) string {
	switch {
	case c.Block.ID != 0:
		return "heap:" + a.functionID(a.allocator(c.Block))
	case l.Variable != "":
		return l.Kind + ":" + indexed.ReplaceAllString(l.Symbol, "[*]")
	}
	return root(l)
}

// sourceText is a line of the source, "" if it isn't there or has changed since
// the recording.
func (a *analysis) sourceText(file string, line int) string {
	if file == "" || line < 1 {
		return ""
	}
	if a.sources == nil {
		a.sources = map[string][]string{}
	}
	lines, ok := a.sources[file]
	if !ok {
		var recorded time.Time
		if st, err := os.Stat(a.t.path()); err == nil {
			recorded = st.ModTime()
		}
		lines = sourceLines(file, recorded)
		a.sources[file] = lines
	}
	if line > len(lines) {
		return ""
	}
	return lines[line-1]
}
