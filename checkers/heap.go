package checkers

import (
	"fmt"
	"sort"

	"github.com/racesim/racesim/report"
)

var leak = &Checker{
	ID:    "leak",
	Title: "memory that is never freed and that nothing points to any more",
	Text: "A heap block that is still allocated when the program ends, while no pointer to it is left in memory or " +
		"registers, can't be freed by anybody. Blocks that something still points to are not reported unless the option " +
		"reachable is 1; of a lost structure, the block that nothing points to. Blocks of one allocation site are one " +
		"finding. What the run-time allocates for itself doesn't count.",
	Before:   "void f(void) { char *p = malloc(100); use(p); }",
	After:    "void f(void) { char *p = malloc(100); use(p); free(p); }",
	Severity: "warning",
	Again:    Again{Text: "blocks that the sections allocate, and that nothing points to when both have ended.", Inside: true},
	Options: []Option{
		{"reachable", "1 reports blocks to which a pointer is left, too", 0},
		{"min_bytes", "bytes at one allocation site below which nothing is reported", 1},
	},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		if !f.Complete {
			return nil
		}
		type site struct {
			first       Block
			n, held     int
			bytes, more uint64
		}
		sites := map[string]*site{}
		var order []string
		for _, b := range f.Lost {
			if b.Reachable && opt["reachable"] == 0 {
				continue
			}
			k := stackKey(b.AllocatedAt)
			s := sites[k]
			if s == nil {
				s = &site{first: b}
				sites[k] = s
				order = append(order, k)
			}
			s.n += b.Count
			s.bytes += b.Size
			s.held += b.HeldCount
			s.more += b.HeldSize
		}
		var out []report.Finding
		for _, k := range order {
			s := sites[k]
			if int64(s.bytes) < opt["min_bytes"] {
				continue
			}
			what := "lost: nothing points to it any more"
			if s.first.Reachable {
				what = "still reachable at the end"
			}
			if s.held > 0 {
				what += fmt.Sprintf("; only through them, %d bytes in %s could be reached", s.more, plural(s.held, "block"))
			}
			out = append(out, report.Finding{
				Message: fmt.Sprintf("%d bytes in %s %s", s.bytes, plural(s.n, "block"), what),
				Thread:  s.first.Thread, Position: s.first.Position, Stack: s.first.AllocatedAt,
			})
		}
		return out
	},
}

var useAfterFree = &Checker{
	ID:    "use-after-free",
	Title: "access to a heap block after it was freed",
	Text: "The bytes belong to the allocator, or already to another block's owner. Reported at the access; the block's " +
		"allocation and release are named in the message. Seen are blocks that weren't handed out again in between, up to " +
		"16 KiB from their start; not seen is the use by a thread that alone touched the cache line, after another freed it. " +
		"Run-time functions that were given the block count; ones that only read beyond a neighbour's end don't. A read is a " +
		"warning if the function around it does the same whatever value it gets.",
	Before:   "free(p); return p->n;",
	After:    "int n = p->n; free(p); return n;",
	Severity: "error",
	Again:    Again{Text: "accesses to blocks that the sections freed.", Inside: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		return badAccesses(f.Freed, func(a *BadAccess) string {
			op := "read"
			if a.Write {
				op = "write"
			}
			return fmt.Sprintf("%s of %d bytes at offset %d of a block of %d bytes allocated at %s and freed at %s",
				op, a.Size, a.Addr-a.Block.Addr, a.Block.Size, top(a.Block.AllocatedAt), top(a.Block.FreedAt))
		})
	},
}

var uninitialised = &Checker{
	ID:    "uninitialised-read",
	Title: "read of heap memory that nobody has written",
	Text: "malloc doesn't clear memory: what is read is what an earlier owner left there. Whole accesses of up to 8 bytes " +
		"in the program's own code count, of which no byte was written since the allocation; copies by the C library don't. " +
		"Each is tried out: it is reported if another value would have led the thread another way, to another address or " +
		"to another system call within a short time, and the function around it to another result. Looked at are the first " +
		"16 KiB of a block.",
	Before:   "int *p = malloc(sizeof *p); return *p;",
	After:    "int *p = calloc(1, sizeof *p); return *p;",
	Severity: "warning",
	Again:    Again{Text: "reads of bytes that nobody had written in blocks that the sections allocate, if other bytes there make a difference to what comes out.", Inside: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		return badAccesses(f.Uninitialised, func(a *BadAccess) string {
			return fmt.Sprintf("read of %d bytes that were never written, at offset %d of a block of %d bytes allocated at %s",
				a.Size, a.Addr-a.Block.Addr, a.Block.Size, top(a.Block.AllocatedAt))
		})
	},
}

func badAccesses(list []BadAccess, say func(*BadAccess) string) []report.Finding {
	seen := map[string]bool{}
	var out []report.Finding
	for i := range list {
		a := &list[i]
		k := place(a.Stack)
		if seen[k] {
			continue
		}
		seen[k] = true
		x := report.Finding{Message: say(a), Thread: a.Thread, Position: a.Position, Stack: a.Stack, Related: history(&a.Block)}
		if a.Idle {
			x.Severity = "warning"
			x.Message += "; what it reads makes no difference"
		}
		out = append(out, x)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Thread < out[j].Thread })
	return out
}

func stackKey(s []report.Frame) string {
	k := ""
	for _, f := range s {
		k += fmt.Sprintf("%s|%s|%d;", f.Function, f.File, f.Line)
	}
	return k
}

func top(s []report.Frame) string {
	if len(s) == 0 {
		return "an unknown place"
	}
	return s[0].Place()
}

// place identifies the innermost frame.
func place(s []report.Frame) string {
	if len(s) == 0 {
		return ""
	}
	return fmt.Sprintf("%s|%s|%d", s[0].Function, s[0].File, s[0].Line)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
