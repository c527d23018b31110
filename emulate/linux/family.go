package linux

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
)

// A family is the first process and the descendants that are executed beside
// it, a slice at a time, by the same goroutine, on the same clock and over the
// same physical memory. What processes share, files and shared memory, they
// really share.
type family struct {
	root       *Process
	members    []*Process // in order of birth, the root first; those that have ended are gone
	last       int        // who had the last turn
	running    *Process   // whose slice was the last
	rng        random     // who is next, where more than one is recorded
	natives    int        // children that the host executes
	woke       bool       // the call under way made a thread runnable
	foreground int        // the terminal's process group, 0: the first one
	umask0     int        // what it was at the start
	umask      int        // this process's file mode creation mask
	watches    int        // helpers that wait for the host
	ended      chan hostEnd

	lastThread emulate.ThreadID // of recorded threads
	lastPID    int
	forks      int
	chans      uint64
	fileChans  map[fileID]uint64
	missed     []Missed
	parcels    []parcel
	sysv       *sysv // nil: never used
	pidFiles   []*pidFile
	async      asyncIO
	locks      map[backKey]*fileLocks
	lockWaits  []*lockWait
	lockChans  []lockChannel
}

func newFamily(root *Process) *family {
	umask := unix.Umask(0)
	unix.Umask(umask)
	root.umask = umask
	return &family{umask0: umask, umask: umask, root: root, members: []*Process{root}, ended: make(chan hostEnd, 16), lastPID: FirstPID - 1,
		rng: random(root.cfg.Seed ^ 0xfa3117), fileChans: map[fileID]uint64{}}
}

// newPID returns a number for a process or a thread.
func (f *family) newPID() int {
	f.lastPID++
	return f.lastPID
}

// A child is what a process knows of another one that it forked.
type child struct {
	pid    int
	pgid   int
	exit   int      // the signal that tells of its end
	p      *Process // who executes it here, nil: nobody
	host   int      // the host's number, if the host executes it
	ended  bool
	status uint32 // as wait4(2) gives it, once ended
	news   uint32 // status of a stop or of going on that nobody has waited for, 0: none
}

// A hostEnd says that the host's process of a child has ended.
type hostEnd struct {
	parent *Process
	child  *child
	status uint32
}

// find returns the process with a number, or nil.
func (f *family) find(pid int) *Process {
	for _, p := range f.members {
		if p.PID == pid && !p.exited {
			return p
		}
	}
	return nil
}

// thread returns the process's thread with a number, of any process, or nil.
func (f *family) thread(tid int) *Thread {
	for _, p := range f.members {
		if t := p.thread(tid); t != nil {
			return t
		}
	}
	return nil
}

// turn gives one process a slice. ran is false if none can run.
func (f *family) turn() (ran bool, err error) {
	var units uint64
	able := 0
	for _, p := range f.members {
		p.expire()
		p.sched.ready = 0
		if p.halted {
			continue
		}
		for _, t := range p.threads {
			if t.state == threadRunnable {
				p.sched.ready++
				units |= 1 << t.unit
			}
		}
		able += p.sched.ready
	}
	for range f.members {
		p := f.choose(able)
		f.hand(p)
		p.sched.beside = able - p.sched.ready
		var t *Thread
		if !p.halted && !p.exited {
			var n int
			if t, n = p.sched.next(units); t != nil {
				if err := p.slice(t, n); err != nil {
					if p != f.root {
						err = fmt.Errorf("process %d: %w", p.PID, err)
					}
					return true, err
				}
			}
		}
		switch {
		case len(p.threads) == 0 || p.exited:
			p.exit(p.status)
			f.leave(p)
			return true, nil
		case t != nil:
			return true, nil
		}
	}
	return false, nil
}

// hand takes the unit from another recorded process's thread, if p is to run:
// they share the units.
func (f *family) hand(p *Process) {
	if q := f.running; q != nil && q != p && q.cur != nil && q.recorded && p.recorded {
		q.hooks.SwitchOut(q.cur)
		q.cur = nil
	}
	f.running = p
}

// choose returns who is next: in turn, or, where all are recorded, at random.
// able is the number of threads that can run.
func (f *family) choose(able int) *Process {
	if f.root.cfg.Children == ChildrenRecord && f.root.cfg.Schedule != ScheduleRR && able > 0 && len(f.members) > 1 {
		k := f.rng.below(able)
		for i, p := range f.members {
			if k -= p.sched.ready; k < 0 {
				f.last = i
				return p
			}
		}
	}
	f.last = (f.last + 1) % len(f.members)
	return f.members[f.last]
}

// leave ends a process that has exited, or that the host goes on with.
func (f *family) leave(q *Process) {
	for i, m := range f.members {
		if m == q {
			f.members = append(f.members[:i], f.members[i+1:]...)
			f.last = max(f.last-1, 0)
			break
		}
	}
	if q.release != nil {
		q.release()
	}
	q.endThreads()
	q.undoAll()
	if h, ok := q.hooks.(ProcessHooks); ok {
		h.ProcessEnd(q, q.status)
	}
	q.close()
	for _, m := range f.members {
		if m.parent == q && m.death != 0 {
			m.sendProcess(siginfo{signo: m.death, code: siUser, pid: q.PID, uid: q.cred.uid[0]}, nil)
		}
	}
	if q.parent == nil {
		f.pidEnded(q.PID)
		f.pokeFds()
		return
	}
	for _, c := range q.parent.children {
		if c.p == q {
			c.p = nil
			if c.host == 0 {
				f.pidEnded(q.PID)
				q.parent.childEnded(c, waitStatus(q.status))
			}
		}
	}
	f.pokeFds()
}

// pokeFds wakes the threads, of all processes, that wait for descriptors that
// are now ready.
func (f *family) pokeFds() {
	f.pokeAsync()
	for _, p := range f.members {
		p.pokeOwn()
	}
}

// expire wakes everybody whose time has come.
func (f *family) expire() {
	for _, p := range f.members {
		p.expire()
	}
}

// waitStatus is how wait4 shows the end of a process.
func waitStatus(s ExitStatus) uint32 {
	if s.Signal != 0 {
		return uint32(s.Signal) & 0x7f
	}
	return uint32(s.Code&0xff) << 8
}

// Codes of SIGCHLD, and the status of a child that goes on.
const (
	cldExited    = 1
	cldKilled    = 2
	cldDumped    = 3
	cldStopped   = 5
	cldContinued = 6
	wentOn       = 0xffff
)

// childInfo is the siginfo for the status of p's child.
func (p *Process) childInfo(c *child, status uint32) siginfo {
	info := siginfo{signo: int(unix.SIGCHLD), code: cldExited, pid: c.pid, uid: p.cred.uid[0], value: uint64(status >> 8 & 0xff)}
	switch {
	case status == wentOn:
		info.code, info.value = cldContinued, uint64(unix.SIGCONT)
	case status&0xff == 0x7f:
		info.code = cldStopped
	case status&0x7f != 0:
		info.code, info.value = cldKilled, uint64(status&0x7f)
		if status&0x80 != 0 {
			info.code = cldDumped
		}
	}
	return info
}

// childEnded tells p of the end of its child.
func (p *Process) childEnded(c *child, status uint32) {
	c.ended, c.status, c.news = true, status, 0
	if p.exited {
		return
	}
	if a := &p.actions[unix.SIGCHLD]; c.exit == int(unix.SIGCHLD) && (a.handler == sigIgn || a.flags&saNoCldWait != 0) {
		p.forget(c)
	}
	if c.exit != 0 {
		info := p.childInfo(c, status)
		info.signo = c.exit
		p.sendProcess(info, nil)
	}
	p.wakeWaiting()
}

// wakeWaiting wakes the threads that wait for a child.
func (p *Process) wakeWaiting() {
	for _, t := range p.threads {
		if t.state == threadBlocked && t.wait.children {
			t.wake()
		}
	}
}

// forget takes a child off the list.
func (p *Process) forget(c *child) {
	for i, x := range p.children {
		if x == c {
			p.children = append(p.children[:i], p.children[i+1:]...)
			return
		}
	}
}

// hostEnded handles the end of a process of the host.
func (f *family) hostEnded(e hostEnd) {
	f.natives--
	f.pidEnded(e.child.pid)
	e.parent.childEnded(e.child, e.status)
	f.pokeFds()
}

// halt stops p, as a signal does, and tells its parent.
func (p *Process) halt(sig unix.Signal) {
	if p == p.fam.root && len(p.fam.members) == 1 {
		// Whoever stops racesim's only process stops racesim.
		if p.cfg.HostSignals {
			unix.Kill(unix.Getpid(), unix.SIGSTOP)
		}
		return
	}
	p.halted = true
	p.tellParent(uint32(sig)<<8 | 0x7f)
}

// resume lets p go on.
func (p *Process) resume() {
	if p.halted {
		p.halted = false
		p.tellParent(wentOn)
	}
}

// tellParent tells p's parent that p has stopped or goes on.
func (p *Process) tellParent(news uint32) {
	if p.parent == nil || p.parent.exited {
		return
	}
	for _, c := range p.parent.children {
		if c.p == p {
			c.news = news
			if p.parent.actions[unix.SIGCHLD].flags&saNoCldStop == 0 {
				p.parent.sendProcess(p.parent.childInfo(c, news), nil)
			}
		}
	}
	p.parent.wakeWaiting()
}
