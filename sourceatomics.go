package racesim

import (
	"regexp"
	"strings"
	"time"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// Atomic loads and stores are plain instructions on x86-64. In C, neither the
// code nor the debugging information says which they are, only the source does:
// GCC's built-in functions, <stdatomic.h>, and OpenMP's atomic read and write.

// atomicCall finds a call of such a function, up to its first argument.
var atomicCall = regexp.MustCompile(`\b(?:__atomic|atomic|__c11_atomic|__opencl_atomic)_(load|store)(?:_n|_explicit)?\s*\(\s*`)

// atomicPragma finds OpenMP's directive; without a word behind it, it is for an
// update, which is a locked instruction.
var atomicPragma = regexp.MustCompile(`^\s*#\s*pragma\s+omp\s+atomic\b.*\b(read|write)\b`)

var identifier = regexp.MustCompile(`[A-Za-z_]\w*`)

// atomicIn says whether line n (from 1) of a source makes an atomic access of
// this kind to a variable of this name ("": it has none).
func atomicIn(lines []string, n int, kind races.Kind, name string) bool {
	if n < 1 || n > len(lines) {
		return false
	}
	for _, m := range atomicCall.FindAllStringSubmatchIndex(lines[n-1], -1) {
		if (lines[n-1][m[2]:m[3]] == "load") == (kind == races.Read) && names(argument(lines[n-1][m[1]:]), name) {
			return true
		}
	}
	statement := lines[n-1]
	at := n - 2 // of the directive
	if atomicPragma.MatchString(statement) {
		at, statement = n-1, ""
		if n < len(lines) {
			statement = lines[n]
		}
	}
	if at < 0 {
		return false
	}
	m := atomicPragma.FindStringSubmatch(lines[at])
	if m == nil || (m[1] == "read") != (kind == races.Read) {
		return false
	}
	left, right, ok := strings.Cut(statement, "=")
	if m[1] == "read" {
		left = right
	}
	return ok && names(left, name)
}

// argument is what stands before the comma or parenthesis that ends it.
func argument(s string) string {
	depth := 0
	for i, c := range s {
		switch c {
		case '(', '[':
			depth++
		case ')', ']', ',':
			if depth == 0 {
				return s[:i]
			}
			if c != ',' {
				depth--
			}
		}
	}
	return s
}

// names says whether an expression may denote the variable of that name: by a
// pointer, if it doesn't name it.
func names(expr, name string) bool {
	ids := identifier.FindAllString(expr, -1)
	if name == "" {
		return len(ids) > 0
	}
	for _, id := range identifier.FindAllString(name, -1) {
		for _, x := range ids {
			if x == id {
				return true
			}
		}
	}
	return !strings.Contains(expr, "&") && len(ids) == 1 && identifier.FindString(strings.TrimSpace(expr)) == strings.TrimSpace(expr) && strings.Contains(name, "heap(")
}

// atomicSource says whether the source calls an access atomic. A source that is
// younger than the program says nothing.
func (a *analysis) atomicSource(x *races.Access, loc *report.Location) bool {
	if x.Kind != races.Read && x.Kind != races.Write || x.Kernel || x.Internal || x.Size > 8 {
		return false
	}
	f := a.frame(x)
	if f.File == "" {
		return false
	}
	lines, ok := a.texts[f.File]
	if !ok {
		lines = sourceLines(f.File, a.built(f.Module))
		if a.texts == nil {
			a.texts = map[string][]string{}
		}
		a.texts[f.File] = lines
	}
	name := loc.Symbol
	if loc.Kind == "heap" {
		name = ""
	}
	return atomicIn(lines, f.Line, x.Kind, name)
}

// halved says whether an access is the second half of an update whose halves
// are atomic each, and together aren't: detection takes an exchange for a plain
// store then.
func (a *analysis) halved(x *races.Access) bool {
	if x.Kind == races.Read || x.Atomic {
		return false
	}
	t, _, err := a.pass.Seek(x.Thread, x.Count)
	if err != nil {
		return false
	}
	in, err := x86.Describe(a.t.s.CodeAt(emulate.Addr(x.PC), t.Min()), x.PC)
	return err == nil && in.Mnemonic == "xchg"
}

// built is when a module was: its file's time.
func (a *analysis) built(module string) time.Time {
	for _, m := range a.t.s.Modules() {
		if m.Path == module && m.ModTime != 0 {
			return time.Unix(0, int64(m.ModTime))
		}
	}
	return time.Time{}
}

// atomicInSource notes the instructions of groups whose sides the source all
// calls atomic, unless the same variable is accessed otherwise, too: then that
// is the race. It marks these groups and returns how many instructions it
// didn't know.
func (a *analysis) atomicInSource(groups []*group) int {
	mixed := map[string]bool{}
	all := map[*group]bool{}
	for _, g := range groups {
		if g.life() {
			continue
		}
		yes := true
		for _, c := range g.cands {
			for _, x := range []*races.Access{&c.First, &c.Second} {
				yes = yes && !a.halved(x) && (a.atomic[x.PC] || a.atomicSource(x, &g.loc))
			}
		}
		all[g] = yes
		if !yes {
			mixed[root(&g.loc)] = true
		}
	}
	n := 0
	for _, g := range groups {
		if !all[g] || mixed[root(&g.loc)] {
			continue
		}
		for _, c := range g.cands {
			for _, x := range []*races.Access{&c.First, &c.Second} {
				if !a.atomic[x.PC] {
					if a.atomic == nil {
						a.atomic = map[uint64]bool{}
					}
					a.atomic[x.PC] = true
					n++
				}
			}
		}
		g.sync = true
	}
	return n
}
