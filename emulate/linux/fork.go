package linux

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
)

// Children says what becomes of the processes that the guest forks.
type Children uint8

const (
	_ Children = iota
	// ChildrenRun executes them beside the guest, unrecorded, until they
	// execute another program: that is a process of the host.
	ChildrenRun
	// ChildrenRecord gives every one hooks of its own: Hooks must be
	// ProcessHooks.
	ChildrenRecord
	// ChildrenForbid ends the guest when it forks.
	ChildrenForbid
)

func (c Children) String() string {
	switch c {
	case ChildrenRun:
		return "run"
	case ChildrenRecord:
		return "record"
	case ChildrenForbid:
		return "forbid"
	}
	return "invalid"
}

// ParseChildren reads what Children.String printed; "" is ChildrenRun.
func ParseChildren(s string) (Children, error) {
	if s == "" {
		return ChildrenRun, nil
	}
	for _, c := range []Children{ChildrenRun, ChildrenRecord, ChildrenForbid} {
		if c.String() == s {
			return c, nil
		}
	}
	return 0, fmt.Errorf("children %q: want run, record or forbid", s)
}

// fork makes a copy of p with one thread, a copy of t. If share is set it runs
// in p's memory.
func (p *Process) fork(t *Thread, share bool) (*Process, unix.Errno) {
	f := p.fam
	f.forks++
	q := &Process{
		PID: f.newPID(), pgid: p.pgid, sid: p.sid, fam: f, parent: p,
		cfg: p.cfg, blocks: x86.NewBlockCache(), argv: p.argv, env: p.env, exe: p.exe, auxv: p.auxv,
		rng: random(uint64(p.rng) ^ uint64(f.forks)<<32), clock: p.clock, actions: p.actions,
		futexes: p.futexes, nextDeadline: never, layout: p.layout, execs: p.execs,
		events: f.root.events, hostSignals: nil, private: p.private, signalFiles: p.signalFiles, umask: p.umask, cred: p.cred, limits: p.limits, cwd: -1, lastThread: new(emulate.ThreadID),
		recorded: p.cfg.Children == ChildrenRecord,
	}
	if q.recorded {
		q.lastThread = &f.lastThread
		q.hooks = p.hooks.(ProcessHooks).Fork(q)
	} else {
		q.hooks = &relative{borrowed: share}
	}
	if share {
		p.AS.borrow(q)
	} else {
		q.AS = newAddressSpace(q.hooks, q.blocks, p.AS.physical)
		if e := p.AS.copyTo(q.AS); e != 0 {
			q.AS.leave(q)
			return nil, e
		}
	}
	q.hooks.Attach(q)
	if err := q.inheritFiles(p); err != nil {
		q.close()
		if e, ok := err.(unix.Errno); ok {
			return nil, e
		}
		return nil, unix.EAGAIN
	}
	q.sched.init(q)
	u := q.newThread(q.PID)
	u.Name, u.mask, u.affinity, u.policy = t.Name, t.mask, t.affinity, t.policy
	if !share {
		u.alt = t.alt
	}
	u.copyState(t)
	f.members = append(f.members, q)
	p.children = append(p.children, &child{pid: q.PID, pgid: q.pgid, exit: int(unix.SIGCHLD), p: q})
	return q, 0
}

// inheritFiles gives q the descriptors and the working directory of p.
func (q *Process) inheritFiles(p *Process) error {
	var err error
	if q.cwd, err = dupHost(p.cwd); err != nil {
		return err
	}
	q.fds.max = p.fds.max
	for n := range p.fds.list {
		d := p.fds.get(n)
		if d == nil {
			continue
		}
		host, err := dupHost(d.host)
		if err != nil {
			return err
		}
		d.file.share()
		q.fds.set(n, descriptor{host: host, file: d.file, cloexec: d.cloexec})
	}
	return nil
}

// copyState gives a new thread the registers of the one that makes a clone
// call, as they are when it returns 0.
func (n *Thread) copyState(t *Thread) {
	s, d := t.CPU, n.CPU
	d.R, d.X, d.Y, d.MXCSR, d.F = s.R, s.X, s.Y, s.MXCSR, s.F
	d.SetFlags(s.Flags())
	d.R[11] = s.Flags()
	d.RIP = s.RIP + 2
	d.R[1] = d.RIP
	d.R[0] = 0
}

// copyTo makes n a copy of as for another process: private memory is copied,
// shared memory shared.
func (as *AddressSpace) copyTo(n *AddressSpace) unix.Errno {
	n.brkStart, n.brk, n.mmapTop = as.brkStart, as.brk, as.mmapTop
	for _, v := range as.vmas {
		if v.child == forkSkips {
			continue
		}
		w := *v
		if w.back != nil {
			w.back.vmas++
		}
		n.vmas = append(n.vmas, &w)
	}
	e := unix.Errno(0)
	for _, v := range as.vmas {
		if v.child != forkCopies {
			continue
		}
		as.pt.each(v.start>>pageShift, v.end>>pageShift, func(page uint64, x *pte) {
			f := x.f
			if !v.shared {
				if f = as.pool.get(); f == nil {
					e = unix.ENOMEM
					return
				}
				*f.Data = *x.f.Data
			}
			f.refs++
			*n.pt.entry(page) = pte{f, x.prot}
		})
	}
	return e
}

// A relative executes a process that nobody records: memory without caches,
// but what it changes in memory of recorded processes they are told of.
type relative struct {
	Plain
	borrowed bool // the memory is a recorded process's
}

// Line implements x86.Memory. Stores to memory that others have, too, must all
// come here; of borrowed memory nothing is kept, since the owner changes it.
func (h *relative) Line(c *x86.CPU, line uint64, write bool) unsafe.Pointer {
	p := h.Plain.Line(c, line, write)
	addr := line << hwmodel.LineShift
	if h.borrowed {
		c.Win.Drop(line)
		if write {
			f, _ := h.P.AS.Translate(addr>>pageShift, true)
			h.P.AS.hooks.KernelWrite(nil, emulate.Addr(addr), f, int(addr&pageMask), hwmodel.LineSize)
		}
		return p
	}
	if !write {
		return p
	}
	if v := h.P.AS.vmas.find(addr); v != nil && v.shared {
		c.Win.Drop(line)
		f, _ := h.P.AS.Translate(addr>>pageShift, true)
		h.changes(v, addr, f, int(addr&pageMask), hwmodel.LineSize)
	}
	return p
}

// KernelWrite implements Hooks.
func (h *relative) KernelWrite(t *Thread, addr emulate.Addr, f *Frame, off, n int) {
	if v := h.P.AS.vmas.find(uint64(addr)); v != nil && v.shared {
		h.changes(v, uint64(addr), f, off, n)
	}
}

// changes tells the recorded processes that somebody else is about to change
// memory that they show, too.
func (h *relative) changes(v *vma, addr uint64, f *Frame, off, n int) {
	for _, s := range h.P.AS.spaces {
		if _, ok := s.hooks.(*relative); ok || s == h.P.AS {
			continue
		}
		if a := s.addrOf(v.back, v.offAt(addr)); a != 0 {
			s.hooks.KernelWrite(nil, a, f, off, n)
		}
	}
	if f.Code {
		h.P.AS.CodeWritten(f)
	}
}
