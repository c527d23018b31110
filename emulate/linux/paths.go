package linux

import (
	"fmt"
	"path/filepath"
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
	}
	return a, 0
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
	rest, ok := p.ownProc(s)
	if r, isfd := strings.CutPrefix(s, "/dev/fd/"); isfd {
		rest, ok = "fd/"+r, true
	}
	if !ok {
		return s
	}
	if rest == "exe" {
		return p.exe
	}
	if rest == "cwd" {
		return fmt.Sprintf("/proc/self/fd/%d", p.cwd)
	}
	if n, isfd := strings.CutPrefix(rest, "fd/"); isfd {
		num, tail, _ := strings.Cut(n, "/")
		fd, err := strconv.Atoi(num)
		if d := p.fds.get(fd); err == nil && d != nil {
			s = fmt.Sprintf("/proc/self/fd/%d", d.host)
			if tail != "" {
				s += "/" + tail
			}
			return s
		}
		return "/proc/self/fd/-1"
	}
	return "/proc/self/" + rest
}

// ownProc reports whether s is in the guest's own directory in /proc, and what
// follows.
func (p *Process) ownProc(s string) (rest string, ok bool) {
	if !strings.HasPrefix(s, "/proc/") {
		return "", false
	}
	first, rest, ok := strings.Cut(s[len("/proc/"):], "/")
	switch first {
	case "self", "thread-self", strconv.Itoa(p.PID):
		return filepath.Clean("/" + rest)[1:], ok
	}
	if n, err := strconv.Atoi(first); err == nil && p.thread(n) != nil {
		return rest, ok
	}
	return "", false
}

// synthetic returns the content of a file that we make up, if path is one.
func (c *call) synthetic(path string) (content string, ok bool) {
	p := c.p
	if cpus := fmt.Sprintf("0-%d\n", p.cfg.Cores-1); strings.HasPrefix(path, "/sys/devices/system/cpu/") {
		if p.cfg.Cores == 1 {
			cpus = "0\n"
		}
		switch path[len("/sys/devices/system/cpu/"):] {
		case "online", "possible", "present":
			return cpus, true
		}
		return "", false
	}
	rest, own := p.ownProc(path)
	if !own {
		if path == "/proc/cpuinfo" {
			return p.cpuinfo(), true
		}
		return "", false
	}
	switch rest {
	case "maps":
		return p.AS.maps(), true
	case "cmdline":
		return strings.Join(p.argv, "\x00") + "\x00", true
	case "environ":
		return strings.Join(p.env, "\x00") + "\x00", true
	case "comm":
		return c.t.Name + "\n", true
	case "auxv":
		return string(p.auxv), true
	case "status":
		return p.statusFile(c.t), true
	case "stat":
		return fmt.Sprintf("%d (%s) R 1 %d %d 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 %d 0 0 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
			p.PID, c.t.Name, p.PID, p.PID, len(p.threads)), true
	case "limits", "mountinfo", "mounts", "cgroup":
		return "", false
	}
	return "", false
}

func (p *Process) statusFile(t *Thread) string {
	var frames uint64
	for _, v := range p.AS.vmas {
		frames += (v.end - v.start) >> 10
	}
	return fmt.Sprintf("Name:\t%s\nState:\tR (running)\nTgid:\t%d\nPid:\t%d\nPPid:\t1\nTracerPid:\t0\n"+
		"VmSize:\t%8d kB\nVmRSS:\t%8d kB\nThreads:\t%d\n",
		t.Name, p.PID, t.TID, frames, p.AS.pool.used*(PageSize>>10), len(p.threads))
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
