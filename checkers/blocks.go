package checkers

import (
	"fmt"

	"github.com/racesim/racesim/report"
)

var doubleFree = &Checker{
	ID:    "double-free",
	Title: "a heap block is freed twice",
	Text: "The second free corrupts the allocator's lists, or frees the block of somebody who was given the memory in " +
		"between: the program crashes later, elsewhere, or can be made to execute code. Usually two places believe that " +
		"they own the block. Let one own it; set the pointer to NULL where it is freed; with threads, take it out of the " +
		"shared place under the lock and free what was taken out.",
	Before:   "free(p); … free(p);",
	After:    "free(p); p = NULL; … free(p);",
	Severity: "error",
	Again:    Again{Text: "blocks that the sections free twice, be it one of them or both.", Inside: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		return badFrees(f.Frees, "twice", func(x *BadFree) string {
			return fmt.Sprintf("a block of %s allocated at %s is freed again; it was freed at %s", plural(int(x.Block.Size), "byte"), top(x.Block.AllocatedAt), top(x.Block.FreedAt))
		})
	},
}

var invalidFree = &Checker{
	ID:    "invalid-free",
	Title: "something is freed that isn't the beginning of a heap block",
	Text: "free takes what malloc gave, and nothing else: an address inside a block, a variable or a string in the program " +
		"corrupts the allocator or ends the program. Reported are addresses inside blocks that are in use, and addresses of " +
		"variables, stacks and code.",
	Before:   "char *p = malloc(9); while (*p == ' ') p++; free(p);",
	After:    "char *p = malloc(9), *q = p; while (*q == ' ') q++; free(p);",
	Severity: "error",
	Again:    Again{Text: "addresses in the middle of a block that is in use.", Inside: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		inside := badFrees(f.Frees, "inside", func(x *BadFree) string {
			return fmt.Sprintf("what is freed is %s into a block of %s allocated at %s", plural(int(x.Addr-x.Block.Addr), "byte"), plural(int(x.Block.Size), "byte"), top(x.Block.AllocatedAt))
		})
		return append(inside, badFrees(f.Frees, "foreign", func(x *BadFree) string {
			return fmt.Sprintf("what is freed isn't on the heap: %s", x.What)
		})...)
	},
}

var mismatchedFree = &Checker{
	ID:    "mismatched-free",
	Title: "a block is freed by a function that doesn't belong to the one that allocated it",
	Text: "What new[] allocates has to be given to delete[], what new does to delete, what malloc does to free (C++17 8.3.5). " +
		"With other allocators than glibc's, and with classes that have destructors, memory is corrupted or objects aren't " +
		"destroyed.",
	Before:   "int *p = new int[8]; … delete p;",
	After:    "int *p = new int[8]; … delete[] p;",
	Severity: "warning",
	Again:    Again{Text: "blocks that the sections free, whoever allocated them.", Inside: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		return badFrees(f.Frees, "otherwise", func(x *BadFree) string {
			return fmt.Sprintf("%s frees a block of %s that %s allocated at %s", x.By, plural(int(x.Block.Size), "byte"), x.For, top(x.Block.AllocatedAt))
		})
	},
}

// badFrees makes a finding of each place that frees wrongly in one way.
func badFrees(list []BadFree, kind string, say func(*BadFree) string) []report.Finding {
	seen := map[string]bool{}
	var out []report.Finding
	for i := range list {
		x := &list[i]
		if k := place(x.Stack); x.Kind != kind || seen[k] {
			continue
		} else {
			seen[k] = true
		}
		out = append(out, report.Finding{Message: say(x), Thread: x.Thread, Position: x.Position, Stack: x.Stack, Related: history(&x.Block)})
	}
	return out
}

// history is where a block comes from and went to.
func history(b *Block) []report.Related {
	var out []report.Related
	if len(b.AllocatedAt) > 0 {
		out = append(out, report.Related{What: "allocated", Thread: b.Thread, Stack: b.AllocatedAt})
	}
	if len(b.FreedAt) > 0 {
		out = append(out, report.Related{What: "freed", Thread: b.FreeThread, Stack: b.FreedAt})
	}
	return out
}

var heapOverflow = &Checker{
	ID:    "heap-overflow",
	Title: "access next to a heap block",
	Text: "The bytes before and behind a block are the allocator's, or the next block's: writing there corrupts them, and the " +
		"program fails later, elsewhere. Seen are accesses that begin up to 64 bytes behind the block or 8 before it, as far " +
		"as no other block is there; with glibc that is at least 8 bytes behind each block. Aligned loads of which " +
		"a part is in the block aren't reported: code that looks for the end of a string reads so. Allocate what is needed " +
		"(a string needs one byte more than its length), and compare indices with <.",
	Before:   "char *p = malloc(strlen(s)); strcpy(p, s);",
	After:    "char *p = malloc(strlen(s) + 1); strcpy(p, s);",
	Severity: "error",
	Again:    Again{Text: "accesses next to blocks, those of the recording and those that the sections allocate.", Inside: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		return badAccesses(f.Beyond, func(a *BadAccess) string {
			op := "read"
			if a.Write {
				op = "write"
			}
			where := fmt.Sprintf("%s behind the end", plural(int(a.Addr-a.Block.Addr-a.Block.Size), "byte"))
			switch {
			case a.Addr < a.Block.Addr:
				where = fmt.Sprintf("%s before the beginning", plural(int(a.Block.Addr-a.Addr), "byte"))
			case a.Addr < a.Block.Addr+a.Block.Size:
				where = "across the end"
			}
			return fmt.Sprintf("%s of %s %s of a block of %s allocated at %s", op, plural(int(a.Size), "byte"), where, plural(int(a.Block.Size), "byte"), top(a.Block.AllocatedAt))
		})
	},
}
