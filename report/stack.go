package report

import (
	"path/filepath"
	"strings"
)

// A stackLine is a frame that is shown, or several that aren't worth a line
// each.
type stackLine struct {
	Frame
	More  int // 0: Frame; else that many frames of the language's library, or
	Again int // as many that repeat the ones before
}

// Folded says what isn't shown; "" for a frame.
func (l *stackLine) Folded() string {
	switch {
	case l.More > 0:
		return count(l.More, "frame") + " of the library"
	case l.Again > 0:
		return count(l.Again, "more frame") + " of the same recursion"
	}
	return ""
}

// A run of as many frames as this is folded.
const foldedFrames = 3

// maxCycle is the most functions whose calls of one another in turn are folded.
const maxCycle = 4

// again returns how many of the first frames of s repeat frames before them,
// and how many of those there are.
func again(s []Frame) (cycle, repeated int) {
	for cycle = 1; cycle <= maxCycle && 2*cycle <= len(s); cycle++ {
		n := cycle
		for n < len(s) && s[n] == s[n-cycle] {
			n++
		}
		if n -= n % cycle; n-cycle >= foldedFrames {
			return cycle, n - cycle
		}
	}
	return 1, 0
}

// fold shortens a call stack for people. Of templates and generic functions of
// a language's library that call one another, only the one that the program
// called is shown, and of a recursion one round; what calls a thread's function,
// not at all.
func fold(s []Frame) []stackLine {
	s = inner(s)
	var out []stackLine
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j].generic() {
			j++
		}
		switch n := j - i; {
		case n == 0:
			k, more := again(s[i:])
			for _, f := range s[i : i+k] {
				out = append(out, stackLine{Frame: f})
			}
			if more > 0 {
				out = append(out, stackLine{Again: more})
			}
			j = i + k + more
		case n < foldedFrames:
			for _, f := range s[i:j] {
				out = append(out, stackLine{Frame: f})
			}
		case j == len(s) && i > 0:
			out = append(out, stackLine{More: n})
		default:
			out = append(out, stackLine{More: n - 1}, stackLine{Frame: s[j-1]})
		}
		i = j
	}
	return out
}

// generic says whether a frame is of code that a language's library brings:
// compiled into the program, or the library's own.
func (f *Frame) generic() bool {
	for _, dir := range []string{"/usr/include/c++/", "/usr/lib/llvm", "/rustc/", "/usr/lib/rustlib/"} {
		if strings.HasPrefix(f.File, dir) {
			return true
		}
	}
	lib := filepath.Base(f.Module)
	return strings.HasPrefix(lib, "libstdc++.so") || strings.HasPrefix(lib, "libc++.so")
}
