package linux

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The guest's own directories in /proc (proc(5)): what they say of the host's
// process would be of racesim.

// A procPath is a path in a process's directory in /proc.
type procPath struct {
	p    *Process
	t    *Thread // whose task directory it is, or the process's first; nil: none is left
	rest string  // "" is the directory itself; "task/N/…" is "…" of that thread
}

// proc finds whose directory s is in: the caller's by /proc/self, or that of any
// process that is executed here.
func (p *Process) proc(s string) (at procPath, ok bool) {
	s, ok = strings.CutPrefix(filepath.Clean(s)+"/", "/proc/")
	if !ok {
		return at, false
	}
	first, rest, _ := strings.Cut(strings.TrimSuffix(s, "/"), "/")
	q := p
	switch n, err := strconv.Atoi(first); {
	case first == "self":
	case first == "thread-self":
		if p.cur != nil {
			at.t = p.cur
		}
	case err != nil:
		return at, false
	default:
		if q = p.fam.find(n); q == nil {
			t := p.fam.thread(n)
			if t == nil {
				return at, false
			}
			q, at.t = t.p, t
		}
	}
	at.p, at.rest = q, rest
	if at.t == nil && len(q.threads) > 0 {
		at.t = q.threads[0]
	}
	if tail, in := strings.CutPrefix(rest, "task/"); in {
		num, tail, _ := strings.Cut(tail, "/")
		n, err := strconv.Atoi(num)
		t := q.thread(n)
		if err != nil || t == nil {
			at.rest = "task/none"
			return at, true
		}
		at.t, at.rest = t, tail
	}
	return at, true
}

// sameOnHost are the files of a process's directory of which the host's process has
// the same, or that synthetic makes up.
func sameOnHost(rest string) bool {
	first, _, _ := strings.Cut(rest, "/")
	return slices.Contains([]string{"maps", "smaps", "statm", "cmdline", "environ", "comm", "auxv", "status", "stat", "limits", "wchan",
		"personality", "io", "schedstat", "fd", "fdinfo", "task",
		"root", "mountinfo", "mounts", "mountstats", "cgroup", "ns", "uid_map", "gid_map", "net", "attr",
		"oom_score", "oom_score_adj", "oom_adj", "setgroups", "loginuid", "sessionid", "cpuset", "timerslack_ns", "coredump_filter"}, first)
}

// synthetic returns the content of a file that we make up, if path is one.
func (c *call) synthetic(path string) (content string, ok bool) {
	p := c.p
	if name, sys := strings.CutPrefix(path, "/sys/devices/system/cpu/"); sys {
		switch name {
		case "online", "possible", "present":
			if p.cfg.Cores == 1 {
				return "0\n", true
			}
			return fmt.Sprintf("0-%d\n", p.cfg.Cores-1), true
		}
		return "", false
	}
	if path == "/proc/cpuinfo" {
		return p.cpuinfo(), true
	}
	at, own := p.proc(path)
	if !own || at.t == nil {
		return "", false
	}
	q, t := at.p, at.t
	if n, in := strings.CutPrefix(at.rest, "fdinfo/"); in {
		fd, err := strconv.Atoi(n)
		if d := q.fds.get(fd); err == nil && d != nil {
			return d.info(), true
		}
		return "", false
	}
	switch at.rest {
	case "maps":
		return q.AS.maps(), true
	case "smaps":
		return q.AS.smaps(), true
	case "statm":
		size, rss, shared := q.AS.sizes()
		return fmt.Sprintf("%d %d %d 0 0 %d 0\n", size>>pageShift, rss>>pageShift, shared>>pageShift, size>>pageShift), true
	case "cmdline":
		return strings.Join(q.argv, "\x00") + "\x00", true
	case "environ":
		return strings.Join(append(slices.Clone(q.env), ""), "\x00"), true
	case "comm":
		return t.Name + "\n", true
	case "auxv":
		return string(q.auxv), true
	case "status":
		return q.statusFile(t), true
	case "stat":
		return q.statFile(t), true
	case "limits":
		return q.limitsFile(), true
	case "wchan":
		return "0", true
	case "personality":
		return "00000000\n", true
	case "io":
		return "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\ncancelled_write_bytes: 0\n", true
	case "schedstat":
		return fmt.Sprintf("%d 0 1\n", t.cpuTime()), true
	}
	return "", false
}

// info is a descriptor's file in fdinfo.
func (d *descriptor) info() string {
	fl, _ := unix.FcntlInt(uintptr(d.host), unix.F_GETFL, 0)
	if fl &^= unix.O_NONBLOCK; d.file.nonblock {
		fl |= unix.O_NONBLOCK
	}
	if d.cloexec {
		fl |= unix.O_CLOEXEC
	}
	pos, _ := unix.Seek(d.host, 0, unix.SEEK_CUR)
	s := fmt.Sprintf("pos:\t%d\nflags:\t0%o\nmnt_id:\t15\nino:\t%d\n", max(pos, 0), fl, d.file.in)
	if d.file.pid != nil {
		s += fmt.Sprintf("Pid:\t%d\nNSpid:\t%d\n", d.file.pid.pid, d.file.pid.pid)
	}
	return s
}

// link is what readlink says of a link in a process's directory; ok is false if it
// is none that we make up.
func (at procPath) link() (string, bool) {
	switch at.rest {
	case "exe":
		return at.p.exe, true
	case "root":
		return "/", true
	}
	n, in := strings.CutPrefix(at.rest, "fd/")
	fd, err := strconv.Atoi(n)
	d := at.p.fds.get(fd)
	if !in || err != nil || d == nil {
		return "", false
	}
	f := d.file
	var st unix.Stat_t
	switch {
	case strings.HasPrefix(f.path, "anon_inode:"):
		return f.path, true
	case f.pipe && unix.Fstat(d.host, &st) == nil && strings.HasPrefix(linkOf(d.host), "pipe:"):
		return fmt.Sprintf("pipe:[%d]", f.in), true
	case f.pipe && st.Mode&unix.S_IFMT == unix.S_IFSOCK:
		return fmt.Sprintf("socket:[%d]", f.in), true
	case f.proc != nil || f.made:
		return f.path, true
	}
	return "", false
}

// A procDir is a directory of a process's that is open.
type procDir struct {
	p    *Process
	dir  string // "fd", "fdinfo" or "task"
	next int    // entry to give next
}

// openProc opens the directories that list what the guest has.
func (c *call) openProc(path string, flags int) (r int64, ok bool) {
	at, own := c.p.proc(path)
	if !own && (path == "/dev/fd" || path == "/dev/fd/") {
		at, own = procPath{p: c.p, rest: "fd"}, true
	}
	if !own || at.rest != "fd" && at.rest != "fdinfo" && at.rest != "task" {
		return 0, false
	}
	if flags&unix.O_ACCMODE != unix.O_RDONLY {
		return fail(unix.EISDIR), true
	}
	fd, err := unix.Open("/proc/self/"+at.rest, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return status(err), true
	}
	name := fmt.Sprintf("/proc/%d/%s", at.p.PID, at.rest)
	return c.adopt(fd, name, flags&unix.O_CLOEXEC != 0, func(f *file) { f.proc = &procDir{p: at.p, dir: at.rest} }), true
}

// names lists what is in the directory now.
func (d *procDir) names() []string {
	l := []string{".", ".."}
	if d.dir == "task" {
		for _, t := range d.p.threads {
			l = append(l, strconv.Itoa(t.TID))
		}
		return l
	}
	for n := range d.p.fds.list {
		if d.p.fds.get(n) != nil {
			l = append(l, strconv.Itoa(n))
		}
	}
	return l
}

// entries gives up to n bytes of struct linux_dirent64: inode, offset, length, type,
// name.
func (d *procDir) entries(n int) ([]byte, unix.Errno) {
	var out []byte
	names := d.names()
	for d.next < len(names) {
		name := names[d.next]
		e := make([]byte, (19+len(name)+1+7)&^7)
		if len(out)+len(e) > n {
			if len(out) == 0 {
				return nil, unix.EINVAL
			}
			break
		}
		d.next++
		put64(e[0:], uint64(1000+d.next))
		put64(e[8:], uint64(d.next))
		put16(e[16:], uint16(len(e)))
		switch {
		case name == "." || name == ".." || d.dir == "task":
			e[18] = unix.DT_DIR
		case d.dir == "fd":
			e[18] = unix.DT_LNK
		default:
			e[18] = unix.DT_REG
		}
		copy(e[19:], name)
		out = append(out, e...)
	}
	return out, 0
}

// sizes gives the bytes that are mapped, that have frames, and of these those that
// are shared or of files.
func (as *AddressSpace) sizes() (size, rss, shared uint64) {
	for _, v := range as.vmas {
		size += v.end - v.start
		n := as.resident(v)
		rss += n
		if v.back != nil {
			shared += n
		}
	}
	return size, rss, shared
}

// resident is how many bytes of v have frames.
func (as *AddressSpace) resident(v *vma) (n uint64) {
	as.pt.each(v.start>>pageShift, v.end>>pageShift, func(uint64, *pte) { n += PageSize })
	return n
}

// smaps is /proc/self/smaps: maps with what each region holds.
func (as *AddressSpace) smaps() string {
	var b strings.Builder
	lines := strings.Split(as.maps(), "\n")
	for i, v := range as.vmas {
		rss := as.resident(v) >> 10
		fmt.Fprintf(&b, "%s\nSize:           %8d kB\nKernelPageSize:        4 kB\nMMUPageSize:           4 kB\nRss:            %8d kB\nPss:            %8d kB\n"+
			"Shared_Clean:          0 kB\nShared_Dirty:          0 kB\nPrivate_Clean:         0 kB\nPrivate_Dirty:  %8d kB\nReferenced:     %8d kB\n"+
			"Anonymous:      %8d kB\nSwap:                  0 kB\nLocked:                0 kB\n",
			lines[i], (v.end-v.start)>>10, rss, rss, rss, rss, rss)
	}
	return b.String()
}

// state is the letter that ps(1) shows.
func (p *Process) state(t *Thread) string {
	switch {
	case p.halted:
		return "T (stopped)"
	case t.state == threadRunnable:
		return "R (running)"
	}
	return "S (sleeping)"
}

// parentPID is the number of p's parent as the guest sees it.
func (p *Process) parentPID() int {
	if q := p.parent; q != nil && !q.exited {
		return q.PID
	}
	return 1
}

// sets gives the signals that are ignored and handled.
func (p *Process) sets() (ignored, caught sigset) {
	for n := 1; n <= maxSignal; n++ {
		switch h := p.actions[n].handler; {
		case h == sigIgn:
			ignored |= sigbit(n)
		case h != sigDfl:
			caught |= sigbit(n)
		}
	}
	return ignored, caught
}

func (p *Process) statusFile(t *Thread) string {
	size, rss, shared := p.AS.sizes()
	var data, stack, code uint64
	for _, v := range p.AS.vmas {
		switch n := v.end - v.start; {
		case v.name == "[stack]":
			stack += n
		case v.prot&unix.PROT_EXEC != 0:
			code += n
		case v.prot&unix.PROT_WRITE != 0 && !v.shared:
			data += n
		}
	}
	var groups strings.Builder
	for _, g := range p.cred.groups {
		fmt.Fprintf(&groups, "%d ", g)
	}
	u, g := p.cred.uid, p.cred.gid
	ign, cgt := p.sets()
	var b strings.Builder
	fmt.Fprintf(&b, "Name:\t%s\nUmask:\t%04o\nState:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n",
		t.Name, p.umask, p.state(t), p.PID, t.TID, p.parentPID())
	fmt.Fprintf(&b, "Uid:\t%d\t%d\t%d\t%d\nGid:\t%d\t%d\t%d\t%d\nFDSize:\t%d\nGroups:\t%s\n",
		u[0], u[1], u[2], u[1], g[0], g[1], g[2], g[1], max(64, len(p.fds.list)), groups.String())
	fmt.Fprintf(&b, "NStgid:\t%d\nNSpid:\t%d\nNSpgid:\t%d\nNSsid:\t%d\n", p.PID, t.TID, p.pgid, p.sid)
	for _, l := range []struct {
		name string
		n    uint64
	}{{"VmPeak", size}, {"VmSize", size}, {"VmLck", 0}, {"VmPin", 0}, {"VmHWM", rss}, {"VmRSS", rss}, {"RssAnon", rss - shared},
		{"RssFile", shared}, {"RssShmem", 0}, {"VmData", data}, {"VmStk", stack}, {"VmExe", code}, {"VmLib", 0}, {"VmPTE", rss >> 9}, {"VmSwap", 0}} {
		fmt.Fprintf(&b, "%s:\t%8d kB\n", l.name, l.n>>10)
	}
	all := p.allUnits()
	fmt.Fprintf(&b, "Threads:\t%d\nSigQ:\t%d/65536\nSigPnd:\t%016x\nShdPnd:\t%016x\nSigBlk:\t%016x\nSigIgn:\t%016x\nSigCgt:\t%016x\n",
		len(p.threads), len(p.pending.list), t.pending.set, p.pending.set, t.mask, ign, cgt)
	k := p.cred.caps()
	fmt.Fprintf(&b, "CapInh:\t%016x\nCapPrm:\t%016x\nCapEff:\t%016x\nCapBnd:\t%016x\nCapAmb:\t%016x\n", k.inheritable, k.permitted, k.effective, uint64(ourCaps), 0)
	fmt.Fprintf(&b, "NoNewPrivs:\t0\nSeccomp:\t0\nCpus_allowed:\t%x\nCpus_allowed_list:\t0-%d\nMems_allowed:\t1\nMems_allowed_list:\t0\n"+
		"voluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n", t.affinity&all, p.cfg.Cores-1)
	return b.String()
}

func (p *Process) statFile(t *Thread) string {
	const perSecond = 100 // USER_HZ
	size, rss, _ := p.AS.sizes()
	ign, cgt := p.sets()
	ticks := p.cpuTime() / (1e9 / perSecond)
	f := p.fam.foreground
	if f == 0 {
		f = p.fam.root.pgid
	}
	return fmt.Sprintf("%d (%s) %c %d %d %d 0 %d 4194304 0 0 0 0 %d 0 0 0 20 0 %d 0 %d %d %d 18446744073709551615 0 0 0 %d %d %d %d %d %d 0 0 0 17 %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		t.TID, t.Name, p.state(t)[0], p.parentPID(), p.pgid, p.sid, f, ticks, len(p.threads), p.clock.began/(1e9/perSecond), size, rss>>pageShift,
		t.CPU.R[4], t.CPU.RIP, uint32(p.pending.set), uint32(t.mask), uint32(ign), uint32(cgt), t.unit)
}

// limitNames are the resource limits in the order of their numbers, as in
// /proc/self/limits, with their units.
var limitNames = [16][2]string{{"Max cpu time", "seconds"}, {"Max file size", "bytes"}, {"Max data size", "bytes"}, {"Max stack size", "bytes"},
	{"Max core file size", "bytes"}, {"Max resident set", "bytes"}, {"Max processes", "processes"}, {"Max open files", "files"},
	{"Max locked memory", "bytes"}, {"Max address space", "bytes"}, {"Max file locks", "locks"}, {"Max pending signals", "signals"},
	{"Max msgqueue size", "bytes"}, {"Max nice priority", ""}, {"Max realtime priority", ""}, {"Max realtime timeout", "us"}}

func (p *Process) limitsFile() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units")
	text := func(v uint64) string {
		if v == ^uint64(0) {
			return "unlimited"
		}
		return strconv.FormatUint(v, 10)
	}
	for i, n := range limitNames {
		cur, most := p.limit(i)
		fmt.Fprintf(&b, "%-25s %-20s %-20s %-10s\n", n[0], text(cur), text(most), n[1])
	}
	return b.String()
}
