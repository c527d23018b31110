package linux

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Paths that mean something else to the guest than to the host: its own
// /proc entries, its descriptors and its processors.

// at is a path with the directory it is relative to, for the host's *at calls.
type at struct {
	dir  int // host descriptor
	path string
}

// at reads a directory descriptor (argument dir; -1: the working directory)
// and a path (argument path).
func (c *call) at(dir, path int) (at, unix.Errno) {
	s, e := c.string(path)
	if e != 0 {
		return at{}, e
	}
	a := at{c.p.cwd, s}
	if strings.HasPrefix(s, "/") {
		a.path = c.p.hostPath(s)
		return a, 0
	}
	if dir >= 0 && c.int(dir) != unix.AT_FDCWD {
		d := c.fd(dir)
		if d == nil {
			return at{}, unix.EBADF
		}
		a.dir = d.host
		if d.file.proc != nil && s != "" && s != "." {
			a.path = c.p.hostPath(d.file.path + "/" + s)
		}
	}
	return a, 0
}

// dirFD returns the descriptor that argument i names as a directory, nil if i is
// negative or it is the working directory.
func (c *call) dirFD(i int) *descriptor {
	if i < 0 || c.int(i) == unix.AT_FDCWD {
		return nil
	}
	return c.fd(i)
}

// hostPath turns a path of the guest's into one for the host.
func (p *Process) hostPath(s string) string {
	switch s {
	case "/dev/stdin":
		s = "/dev/fd/0"
	case "/dev/stdout":
		s = "/dev/fd/1"
	case "/dev/stderr":
		s = "/dev/fd/2"
	}
	if r, isfd := strings.CutPrefix(s, "/dev/fd/"); isfd || s == "/dev/fd" {
		s = "/proc/self/fd/" + r
	}
	at, ok := p.proc(s)
	if !ok {
		return s
	}
	q, rest := at.p, at.rest
	switch rest {
	case "":
		return "/proc/self"
	case "exe":
		return q.exe
	case "cwd":
		return fmt.Sprintf("/proc/self/fd/%d", q.cwd)
	}
	if n, isfd := strings.CutPrefix(rest, "fd/"); isfd {
		num, tail, _ := strings.Cut(n, "/")
		fd, err := strconv.Atoi(num)
		if d := q.fds.get(fd); err == nil && d != nil {
			s = fmt.Sprintf("/proc/self/fd/%d", d.host)
			if tail != "" {
				s += "/" + tail
			}
			return s
		}
		return "/proc/self/fd/-1"
	}
	if !sameOnHost(rest) {
		return "/proc/self/fd/-1" // there is no such file
	}
	return "/proc/self/" + rest
}

func (p *Process) cpuinfo() string {
	var b strings.Builder
	for i := 0; i < p.cfg.Cores; i++ {
		fmt.Fprintf(&b, "processor\t: %d\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel name\t: racesim\n"+
			"cpu MHz\t\t: 2000.000\nphysical id\t: 0\nsiblings\t: %d\ncore id\t\t: %d\ncpu cores\t: %d\n"+
			"flags\t\t: fpu tsc cx8 cmov mmx fxsr sse sse2 pni ssse3 cx16 sse4_1 sse4_2 popcnt\n\n",
			i, p.cfg.Cores, i, p.cfg.Cores)
	}
	return b.String()
}

// maps is /proc/self/maps.
func (as *AddressSpace) maps() string {
	var b strings.Builder
	for _, v := range as.vmas {
		perm := []byte("---p")
		for i, bit := range []int{unix.PROT_READ, unix.PROT_WRITE, unix.PROT_EXEC} {
			if v.prot&bit != 0 {
				perm[i] = "rwx"[i]
			}
		}
		if v.shared {
			perm[3] = 's'
		}
		var dev, ino, off uint64
		if v.back != nil {
			dev, ino, off = v.back.dev, v.back.ino, v.off
		}
		line := fmt.Sprintf("%08x-%08x %s %08x %02x:%02x %d ", v.start, v.end, perm, off, unix.Major(dev), unix.Minor(dev), ino)
		if name := v.path(); name != "" {
			line = fmt.Sprintf("%-73s%s", line, name)
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}
