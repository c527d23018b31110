package racesim

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/races/detect"
)

// What an atomic access orders is up to its memory order, which only the source
// has: on x86-64 relaxed loads and stores are the same instructions as those
// that acquire and release. A program that publishes by relaxed accesses works
// here as long as its compiler leaves it alone, and nowhere by right.
//
// Only what the source says in so many words counts: an order that is a variable
// or hidden in a macro may be any. Fences make relaxed accesses synchronise, and
// leave no instruction to be seen; in a program whose source has some, all
// accesses count as ordering. (C11, 7.17.3 and 7.17.4; C++20, [atomics.order];
// OpenMP 5.0, 2.17.7: atomic without a clause is relaxed.)

// An orderReader reads the orders of atomic accesses in a program's sources. It is
// safe for concurrent use.
type orderReader struct {
	ms *funcs.Modules
	// read returns a source as it was when the module was built, nil if it isn't
	// known.
	read func(file, module string) []byte

	mu     sync.Mutex
	lines  map[string][]string
	fences int // 0: not looked for; 1: there are none; 2: there are
	found  bool
}

// maxStatement bounds the lines of a call that are read.
const maxStatement = 8

// loose says what an access doesn't do; without a reader, nothing is known.
func (r *orderReader) loose(at detect.AtomicSite) races.Loose {
	if r == nil || systemSource(at.File) {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	lines, known := r.lines[at.File]
	if !known {
		lines = strings.Split(withoutComments(string(r.read(at.File, at.Module))), "\n")
		if r.lines == nil {
			r.lines = map[string][]string{}
		}
		r.lines[at.File] = lines
	}
	l := looseIn(lines, &at)
	if l == 0 || r.fenced() {
		return 0
	}
	r.found = true
	return l
}

// systemSource says whether a source belongs to the compiler or the
// distribution.
func systemSource(file string) bool {
	for _, p := range [...]string{"/usr/include/", "/usr/lib/", "/rustc/"} {
		if strings.HasPrefix(file, p) {
			return true
		}
	}
	return strings.Contains(file, "/rustlib/")
}

// fenceWords finds what makes other accesses synchronise.
var fenceWords = regexp.MustCompile(`(?m)fence|__sync_synchronize|\bsmp_\w*mb\b|\b[rw]?mb\s*\(|\b(?:__)?asm\b|__asm__|\basm!|\bomp\s+flush\b|atomic_default_mem_order|membarrier|^[^#\n]*(?:ANNOTATE_HAPPENS_|__tsan_(?:acquire|release))`)

// fenced says whether the program's own sources have fences, as far as they are
// there.
func (r *orderReader) fenced() bool {
	if r.fences == 0 {
		r.fences = 1
		for _, s := range r.ms.SourceFiles() {
			if !systemSource(s.File) && fenceWords.MatchString(withoutComments(string(r.read(s.File, s.Module)))) {
				r.fences = 2
				break
			}
		}
	}
	return r.fences == 2
}

// withoutComments blanks the comments of a source in C, C++ or Rust, leaving its
// lines where they are.
func withoutComments(s string) string {
	b := []byte(s)
	blank := func(from, to int) {
		for ; from < to; from++ {
			if b[from] != '\n' {
				b[from] = ' '
			}
		}
	}
	for i := 0; i < len(b); i++ {
		switch rest := s[i:]; {
		case b[i] == '"':
			for i++; i < len(b) && b[i] != '"' && b[i] != '\n'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest+"\n", '\n')
			blank(i, i+n)
			i += n - 1
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				n = len(rest) - 4
			}
			blank(i, min(i+n+4, len(b)))
			i += n + 3
		}
	}
	return string(b)
}

// looseIn says what the access at a place in a source doesn't do.
func looseIn(lines []string, at *detect.AtomicSite) races.Loose {
	if at.Line < 1 || at.Line > len(lines) {
		return 0
	}
	text := lines[at.Line-1]
	own := len(text) // only calls that begin here
	for i := at.Line; i < len(lines) && i < at.Line+maxStatement; i++ {
		text += "\n" + lines[i]
	}
	if at.Function == "" {
		if c, ok := pragmaBefore(lines, at.Line); ok {
			return pragmaLoose(c)
		}
	}
	all := races.NoAcquire | races.NoRelease
	any := false
	for _, c := range atomicCalls(text, own, at) {
		any = true
		all &= c.loose(at)
	}
	if !any {
		return 0
	}
	return all
}

// pragmaBefore returns the clauses of the OpenMP atomic directive that a
// statement belongs to.
func pragmaBefore(lines []string, n int) (clauses string, ok bool) {
	for i := n - 1; i >= 0 && i >= n-3; i-- {
		l := strings.TrimSpace(lines[i])
		if m := ompAtomic.FindStringSubmatch(l); m != nil {
			return m[1], !strings.HasSuffix(l, "\\")
		}
		if i < n-1 && l != "{" && l != "" {
			break
		}
	}
	return "", false
}

var ompAtomic = regexp.MustCompile(`^#\s*pragma\s+omp\s+atomic\b(.*)`)

// pragmaLoose says what an OpenMP atomic construct with these clauses doesn't do.
func pragmaLoose(clauses string) (l races.Loose) {
	l = races.NoAcquire | races.NoRelease
	for _, w := range identifier.FindAllString(clauses, -1) {
		switch w {
		case "seq_cst", "acq_rel":
			l = 0
		case "acquire":
			l &^= races.NoAcquire
		case "release":
			l &^= races.NoRelease
		}
	}
	return l
}

// An atomicUse is a call of an atomic operation in a source.
type atomicUse struct {
	name string // load, store, fetch_add, …
	args []string
}

// builtInCall finds a call of one of the compiler's functions, or of
// <stdatomic.h>'s.
var builtInCall = regexp.MustCompile(`\b(?:__atomic|atomic|__c11_atomic|__opencl_atomic)_(\w+)\s*\(`)

// atomicCalls finds the calls in a text, beginning among its first bytes, that may
// be what makes an access.
func atomicCalls(text string, own int, at *detect.AtomicSite) (out []atomicUse) {
	if at.Function == "" {
		for _, m := range builtInCall.FindAllStringSubmatchIndex(text, -1) {
			name := strings.TrimPrefix(text[m[2]:m[3]], "flag_")
			if m[0] < own && makes(operation(name), at) {
				out = append(out, atomicUse{name, arguments(text[m[1]:])})
			}
		}
		return out
	}
	name := member(at.Function)
	if strings.Contains(at.Function, "operator") || !identifierOnly.MatchString(name) {
		return nil
	}
	call := regexp.MustCompile(`\b` + name + `\s*(?:::<\w*>)?\(`)
	for _, m := range call.FindAllStringIndex(text, -1) {
		if m[0] < own {
			out = append(out, atomicUse{name, arguments(text[m[1]:])})
		}
	}
	return out
}

var identifierOnly = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// member is the last part of a function's name: load of std::atomic<int>::load(…).
func member(name string) string {
	var b strings.Builder
	depth := 0
	for _, c := range name {
		switch {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case c == '(' && depth == 0:
			return last(b.String())
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return last(b.String())
}

func last(name string) string {
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	if i := strings.LastIndexByte(name, ' '); i >= 0 {
		name = name[i+1:]
	}
	return strings.TrimSpace(name)
}

// operation is the name of an operation without what says how its arguments are given.
func operation(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "_explicit"), "_n")
}

// makes says whether an operation may make an access.
func makes(op string, at *detect.AtomicSite) bool {
	switch {
	case op == "load":
		return at.Kind == races.Read && !at.Failed
	case op == "store" || op == "clear":
		return at.Kind != races.Read
	case at.Failed:
		return strings.HasPrefix(op, "compare_exchange")
	}
	return at.Kind != races.Read && (op == "exchange" || op == "test_and_set" || strings.HasPrefix(op, "compare_exchange") || strings.HasPrefix(op, "fetch_") || strings.HasSuffix(op, "_fetch"))
}

// arguments splits what follows the parenthesis of a call; nil if it doesn't end.
func arguments(s string) (out []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return append(out, strings.TrimSpace(s[from:i]))
			}
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	return nil
}

// orderWord is an argument that is a memory order in so many words.
var orderWord = regexp.MustCompile(`^(?:(?:::)?(?:std|core|crate)::)?(?:\w+::)*(?:memory_order(?:_|::)|__ATOMIC_|Ordering::)?(relaxed|consume|acquire|release|acq_rel|seq_cst|RELAXED|CONSUME|ACQUIRE|RELEASE|ACQ_REL|SEQ_CST|Relaxed|Acquire|Release|AcqRel|SeqCst)$`)

// order returns the memory order that an argument is; "" if it isn't one.
func order(arg string) string {
	m := orderWord.FindStringSubmatch(arg)
	if m == nil || arg == m[1] && m[1][0] >= 'a' { // a name of the program's
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(m[1], "_", ""))
}

// loose says what a call doesn't do when it makes an access.
func (u *atomicUse) loose(at *detect.AtomicSite) races.Loose {
	n := len(u.args)
	if n == 0 {
		return 0
	}
	o := order(u.args[n-1])
	if strings.HasPrefix(operation(strings.TrimPrefix(u.name, "atomic_")), "compare_exchange") {
		// One order for both outcomes, or one for each.
		if n < 2 {
			return 0
		}
		switch success := order(u.args[n-2]); {
		case success != "" && !at.Failed:
			o = success
		case success == "" && (at.Function == "" || n != 3):
			return 0 // the first of two may be anything
		}
	}
	switch o {
	case "relaxed":
		return races.NoAcquire | races.NoRelease
	case "acquire", "consume":
		return races.NoRelease
	case "release":
		return races.NoAcquire
	}
	return 0
}

// findLoose marks the groups that are races only since some atomic accesses don't
// order what comes before and after, says the source: with what the processor
// makes of these, another pass doesn't find them.
func (a *analysis) findLoose(ctx context.Context, groups []*group) error {
	if !a.orders.found || len(groups) == 0 {
		return nil
	}
	tree := funcs.NewTree(a.ms)
	p := &detect.Pass{Session: a.t.s, Tree: tree, Sync: a.sync, Atomics: a.atomic, Memory: a.o.memory(), Close: a.close, NoCoarse: true,
		Alone: a.alone, Together: a.together, Marks: 1}
	if a.o.Progress != nil {
		a.passes++
		phase := fmt.Sprintf("looking for races, pass %d", a.passes)
		p.Progress = func(done, total int) { a.o.Progress(phase, done, total) }
	}
	defer p.Drop()
	if err := p.Run(ctx); err != nil {
		return err
	}
	type pair struct{ x, y uint64 }
	of := func(c *races.Candidate) pair {
		return pair{min(c.First.PC, c.Second.PC), max(c.First.PC, c.Second.PC)}
	}
	seen := map[pair]bool{}
	for _, c := range p.Candidates() {
		seen[of(c)] = true
	}
	for _, g := range groups {
		g.loose = !g.predicted()
		for _, c := range g.cands {
			g.loose = g.loose && !seen[of(c)]
		}
	}
	return nil
}

// source reads a source as it was when a module was built.
func (a *analysis) source(file, module string) []byte {
	st, err := os.Stat(file)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxQuoted || st.ModTime().After(a.built(module)) {
		return nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return b
}
