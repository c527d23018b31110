package linux

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate/x86"
)

func init() {
	addCalls([]sysRow{
		{nr: 59, name: "execve", args: "<path, <argv, <envp", fn: sysExecve,
			note: "an unrecorded child becomes a process of the host; others run only 64-bit ELF programs and scripts"},
		{nr: 322, name: "execveat", args: "dir, <path, <argv, <envp, flags", fn: sysExecveat, note: "as execve"},
	})
}

// Bounds of what execve takes.
const (
	maxArgs     = 1 << 16
	maxArgBytes = 2 << 20
)

// strings reads an array of pointers to strings that ends with a null pointer.
func (c *call) strings(addr uint64) ([]string, unix.Errno) {
	var l []string
	total := 0
	for i := uint64(0); addr != 0; i += 8 {
		p, e := c.p.AS.read64(addr + i)
		if e != 0 {
			return nil, e
		}
		if p == 0 {
			break
		}
		s, e := c.p.AS.cstring(p, maxArgBytes)
		if e != 0 {
			return nil, e
		}
		if total += len(s) + 1; total > maxArgBytes || len(l) == maxArgs {
			return nil, unix.E2BIG
		}
		l = append(l, s)
	}
	return l, 0
}

func sysExecve(c *call) int64 {
	a, e := c.at(-1, 0)
	if e != 0 {
		return fail(e)
	}
	name, _ := c.p.AS.cstring(c.args[0], unix.PathMax)
	return c.exec(a, name, c.args[1], c.args[2])
}

func sysExecveat(c *call) int64 {
	a, e := c.at(0, 1)
	if e != 0 {
		return fail(e)
	}
	if a.path == "" && c.args[4]&unix.AT_EMPTY_PATH != 0 {
		a = at{c.p.cwd, procFD(a.dir)}
	}
	return c.exec(a, a.path, c.args[2], c.args[3])
}

// exec executes the program at a, which was asked for as name.
func (c *call) exec(a at, name string, argvAt, envAt uint64) int64 {
	argv, e := c.strings(argvAt)
	if e != 0 {
		return fail(e)
	}
	env, e := c.strings(envAt)
	if e != 0 {
		return fail(e)
	}
	if a.path == "" {
		return fail(unix.ENOENT)
	}
	c.p.AS.yieldAll()
	if !c.p.recorded {
		return c.execOnHost(a, argv, env)
	}
	path := c.p.absolute(a)
	if e := executable(path, 0); e != 0 {
		return fail(e)
	}
	if len(argv) == 0 {
		argv = []string{""}
	}
	return c.execHere(path, name, argv, env)
}

// executable says whether execHere can run a file: 0, or why not.
func executable(path string, depth int) unix.Errno {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return err.(unix.Errno)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || unix.Access(path, unix.X_OK) != nil {
		return unix.EACCES
	}
	f, err := os.Open(path)
	if err != nil {
		return unix.EACCES
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return unix.ENOEXEC
	}
	if name, _, ok := scriptLine(head[:n]); ok {
		if depth >= maxScripts {
			return unix.ELOOP
		}
		return executable(name, depth+1)
	}
	e, err := elf.NewFile(f)
	if err != nil || e.Class != elf.ELFCLASS64 || e.Machine != elf.EM_X86_64 || e.Type != elf.ET_EXEC && e.Type != elf.ET_DYN {
		return unix.ENOEXEC
	}
	return 0
}

// execHere puts another program in the place of p's. path is absolute, name
// the path as given.
func (c *call) execHere(path, name string, argv, env []string) int64 {
	p, t := c.p, c.t
	for len(p.threads) > 1 {
		for _, u := range p.threads {
			if u != t {
				u.clearTID = 0
				p.endThread(u, 0)
				break
			}
		}
	}
	p.exitRobust(t)
	if t.clearTID != 0 && p.AS.users > 1 {
		if p.AS.write32(t, t.clearTID, 0) == 0 {
			p.futexWake(p.futexKey(t.clearTID, false), 1, ^uint32(0))
		}
	}
	t.robust, t.clearTID, t.alt, t.TID = 0, 0, altStack{}, p.PID
	for n := range p.fds.list {
		if d := p.fds.get(n); d != nil && d.cloexec {
			p.closeFD(n)
		}
	}
	for i := range p.actions {
		if p.actions[i].handler != sigIgn {
			p.actions[i] = sigaction{}
		}
	}
	for id, tm := range p.timers.posix {
		if id > 0 {
			p.dropTimer(tm)
			delete(p.timers.posix, id)
		}
	}
	p.private = false

	old := p.AS
	if old.users > 1 {
		old.leave(p)
		p.blocks = x86.NewBlockCache() // the old one has its owner's code
		p.AS = newAddressSpace(p.hooks, p.blocks, old.physical)
		p.hooks.Attach(p)
	} else {
		old.unmap(0, taskSize)
		old.pt = pageTable{}
	}
	if p.release != nil {
		p.release()
	}
	p.execs++
	p.layout = layoutOf(p.execs)
	p.AS.mmapTop = p.layout.mmapTop
	if h, ok := p.hooks.(ProcessHooks); ok {
		h.Exec(p, path, argv)
	}
	p.argv, p.env, p.exe = argv, env, realPath(path)
	t.Name = truncName(filepath.Base(name))
	img, err := p.loadProgram(path, 0)
	if err != nil {
		p.kill(unix.SIGKILL) // as Linux does past the point of no return
		return noReturn
	}
	img.execfn = name
	sp, err := p.buildStack(img)
	if err != nil {
		p.kill(unix.SIGKILL)
		return noReturn
	}
	d := p.newCPU()
	d.Win, d.Count = t.CPU.Win, t.CPU.Count+1
	d.SetFlags(0x202)
	d.R[4], d.RIP = sp, img.start
	*t.CPU = *d
	t.sigwait, t.savedMask = 0, nil
	p.fam.woke = true
	p.hooks.SyscallExit(t, c.nr, 0, c.eff)
	p.deliver(t)
	return noReturn
}

// execOnHost hands a process that isn't recorded over to the host.
func (c *call) execOnHost(a at, argv, env []string) int64 {
	p := c.p
	path := a.path
	if !filepath.IsAbs(path) {
		path = p.absolute(a)
	}
	var files []uintptr
	for n := range p.fds.list {
		d := p.fds.get(n)
		if d == nil || d.cloexec {
			files = append(files, ^uintptr(0))
			continue
		}
		files = append(files, uintptr(d.host))
		p.AS.give(d.host)
		if f := d.file; !f.reg && !f.nonblock && !f.given && f.timer == nil && f.signals == nil && f.pid == nil {
			// Ours never block; other programs' do. What stands for a timer or the
			// like is read here without asking whether it can be.
			if fl, err := unix.FcntlInt(uintptr(d.host), unix.F_GETFL, 0); err == nil {
				unix.FcntlInt(uintptr(d.host), unix.F_SETFL, fl&^unix.O_NONBLOCK)
			}
		}
	}
	defer p.ignoreOnHost()()
	attr := &syscall.ProcAttr{Dir: fmt.Sprintf("/proc/self/fd/%d", p.cwd), Env: env, Files: files}
	if cred := &p.cred; cred.changed && unix.Geteuid() == 0 {
		attr.Sys = &syscall.SysProcAttr{Credential: &syscall.Credential{
			Uid: uint32(cred.uid[1]), Gid: uint32(cred.gid[1]), Groups: cred.groups}}
	}
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		if e, ok := err.(syscall.Errno); ok {
			return fail(e)
		}
		return fail(unix.EACCES)
	}
	f := p.fam
	for _, k := range p.parent.children {
		if k.p != p {
			continue
		}
		k.host = pid
		f.natives++
		go func(end hostEnd) {
			var ws syscall.WaitStatus
			for {
				if _, err := syscall.Wait4(pid, &ws, 0, nil); err != syscall.EINTR {
					break
				}
			}
			end.status = uint32(ws)
			f.ended <- end
		}(hostEnd{parent: p.parent, child: k})
	}
	f.openToHost()
	p.exit(ExitStatus{})
	return noReturn
}

// ignoreOnHost makes this process ignore what p does, so that the host's
// process inherits it, until the function that it returns is called.
func (p *Process) ignoreOnHost() (undo func()) {
	var list []os.Signal
	for s := unix.Signal(1); s < firstRT; s++ {
		if p.actions[s].handler == sigIgn && !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return func() {}
	}
	signal.Ignore(list...)
	return func() {
		for _, s := range list {
			// Reset alone leaves a signal ignored that was: it must have been
			// handled.
			ch := make(chan os.Signal, 1)
			signal.Notify(ch, s)
			signal.Reset(s)
			if h := p.fam.root.hostSignals; h != nil && slices.Contains(forwarded, s) {
				signal.Notify(h, s)
			}
		}
	}
}

// openToHost makes everybody who waits for a pipe or socket wait for the host:
// a process there may have the other end.
func (f *family) openToHost() {
	for _, q := range f.members {
		for i := range q.fds.list {
			if d := q.fds.get(i); d != nil && !d.file.reg {
				d.file.outside = true
			}
		}
		for _, t := range q.threads {
			if t.state == threadBlocked && len(t.wait.fds) > 0 && t.wait.watch == nil {
				t.wait.outside = true
				t.watchOutside()
			}
		}
	}
}
