package checkers

import (
	"fmt"
	"strings"

	"github.com/racesim/racesim/report"
)

var descriptorLeak = &Checker{
	ID:    "descriptor-leak",
	Title: "a descriptor that was never closed, and whose number nobody knows any more",
	Text: "A program may have a limited number of descriptors open: one that loses some each time ends with EMFILE, and " +
		"peers of lost connections wait for ever. Reported are descriptors that are open when the program ends, if the " +
		"function that was given the number has returned without closing it, returning it, or storing it anywhere, or has " +
		"overwritten it. Those that somebody could still close aren't, nor streams. Descriptors opened at one place are one finding.",
	Before:   "int fd = open(name, O_RDONLY); if (read(fd, b, n) != n) return -1; close(fd);",
	After:    "int fd = open(name, O_RDONLY); if (read(fd, b, n) != n) { close(fd); return -1; } close(fd);",
	Severity: "warning",
	Again:    Again{Text: "descriptors that the sections open, and whose numbers are nowhere when both have ended."},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		n := map[string]int{}
		var keys []string
		var out []report.Finding
		for i := range f.Forgotten {
			o := &f.Forgotten[i]
			k := stackKey(o.Opened)
			if n[k]++; n[k] == 1 {
				keys = append(keys, k)
				out = append(out, report.Finding{Message: fmt.Sprintf("descriptor %d, which %s opened, is never closed, and nobody knows its number any more", o.FD, o.Call),
					Thread: o.Thread, Position: o.Position, Stack: o.Opened})
			}
		}
		for i, k := range keys {
			if n[k] > 1 {
				out[i].Message = fmt.Sprintf("%d descriptors opened here are never closed, and nobody knows their numbers any more", n[k])
			}
		}
		return out
	},
}

var descriptorClosed = &Checker{
	ID:    "use-after-close",
	Title: "a descriptor is used after it was closed",
	Text: "The kernel answers EBADF: this time. The number is given to whatever is opened next, by any thread, and then the " +
		"same mistake reads, writes or closes another's file. Reported are system calls that fail because their descriptor " +
		"was closed before; that a thread closes again what it closed itself is a warning. Places that close whatever there is (loops over all numbers) aren't reported, nor calls that only " +
		"ask whether a descriptor is open.",
	Before:   "close(fd); … write(fd, b, n);",
	After:    "close(fd); fd = -1; … if (fd >= 0) write(fd, b, n);",
	Severity: "error",
	Again:    Again{Text: "descriptors that a section closed and either of them uses.", Inside: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		seen := map[string]bool{}
		var out []report.Finding
		for i := range f.Closed {
			m := &f.Closed[i]
			if k := place(m.Stack); seen[k] {
				continue
			} else {
				seen[k] = true
			}
			x := report.Finding{Message: fmt.Sprintf("%s on descriptor %d, which was closed at %s", m.Call, m.FD, top(m.ClosedAt)),
				Thread: m.Thread, Position: m.Position, Stack: m.Stack, Related: []report.Related{{What: "closed", Thread: m.ClosedBy, Stack: m.ClosedAt}}}
			if m.Call == "close" && m.ClosedBy == m.Thread {
				x.Severity = "warning" // shells do so, to be sure
			}
			out = append(out, x)
		}
		return out
	},
}

var returnDescriptors = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`open open64 openat openat64 creat creat64 __open __open64 __open_2 __open64_2 __openat_2 __openat64_2 socket accept accept4 dup dup2 dup3 fcntl fcntl64
		epoll_create epoll_create1 eventfd timerfd_create signalfd inotify_init inotify_init1 memfd_create shm_open mkstemp mkstemp64 mkostemp mkostemp64 pidfd_open syscall`) {
		m[n] = true
	}
	return m
}()

// ReturnsDescriptor says whether a function of the C library returns the
// descriptor that it opens.
func ReturnsDescriptor(name string) bool {
	name, _, _ = strings.Cut(name, "@")
	return returnDescriptors[name]
}
