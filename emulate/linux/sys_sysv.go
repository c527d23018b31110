package linux

import (
	"golang.org/x/sys/unix"
)

const noteSysV = "among the guest's processes only; permissions aren't checked"

func init() {
	addCalls([]sysRow{
		{nr: 29, name: "shmget", args: "key, n, flags", fn: sysShmget, note: noteSysV},
		{nr: 30, name: "shmat", args: "id, addr, flags", fn: sysShmat, note: noteSysV},
		{nr: 67, name: "shmdt", args: "addr", fn: sysShmdt, note: noteSysV},
		{nr: 31, name: "shmctl", args: "id, cmd, ~buf", fn: sysShmctl, note: noteSysV},
		{nr: 64, name: "semget", args: "key, n, flags", fn: sysSemget, note: noteSysV},
		{nr: 65, name: "semop", args: "id, <ops, n", fn: func(c *call) int64 { return c.semop(0) }, rel: releaseSem, note: noteSysV},
		{nr: 220, name: "semtimedop", args: "id, <ops, n, <timeout", fn: func(c *call) int64 { return c.semop(c.args[3]) },
			rel: releaseSem, note: noteSysV},
		{nr: 66, name: "semctl", args: "id, n, cmd, ~arg", fn: sysSemctl, rel: releaseSem, note: noteSysV},
		{nr: 68, name: "msgget", args: "key, flags", fn: sysMsgget, note: noteSysV},
		{nr: 69, name: "msgsnd", args: "id, <msg, n, flags", fn: sysMsgsnd, rel: releaseQueue, note: noteSysV},
		{nr: 70, name: "msgrcv", args: "id, >msg, n, type, flags", fn: sysMsgrcv, note: noteSysV + "; no MSG_COPY"},
		{nr: 71, name: "msgctl", args: "id, cmd, ~buf", fn: sysMsgctl, note: noteSysV},
	})
}

// sysv are the family's System V objects. They end with it.
type sysv struct {
	lastID int
	shm    map[int]*shmSegment
	sem    map[int]*semSet
	msg    map[int]*msgQueue
}

// An ipcObject is what the three kinds have in common.
type ipcObject struct {
	id, key int
	mode    uint32
	creator int
	uid     int
	gid     int
	changed int64  // time of the last change, s
	channel uint64 // for Object
	removed bool
}

// Flags and commands (uapi/linux/ipc.h).
const (
	ipcPrivate = 0
	ipcCreat   = 0o1000
	ipcExcl    = 0o2000
	ipcNoWait  = 0o4000
	ipcRmid    = 0
	ipcSet     = 1
	ipcStat    = 2
	ipcInfo    = 3
)

// Bounds, those of Linux by default (SHMMNI, SEMMSL, SEMVMX, SEMOPM, MSGMAX,
// MSGMNB).
const (
	maxIPC      = 4096
	maxSems     = 32000
	maxSemValue = 32767
	maxSemOps   = 500
	maxMessage  = 8192
	maxQueue    = 16384
)

func (f *family) ipc() *sysv {
	if f.sysv == nil {
		f.sysv = &sysv{shm: map[int]*shmSegment{}, sem: map[int]*semSet{}, msg: map[int]*msgQueue{}}
	}
	return f.sysv
}

// ipcGet does what shmget, semget and msgget have in common: it finds the object
// with a key, or says that a new one is to be made.
func ipcGet[T any](all map[int]*T, base func(*T) *ipcObject, key, flags int) (x *T, e unix.Errno) {
	if key != ipcPrivate {
		for _, y := range all {
			if b := base(y); b.key == key && !b.removed {
				if flags&ipcCreat != 0 && flags&ipcExcl != 0 {
					return nil, unix.EEXIST
				}
				return y, 0
			}
		}
		if flags&ipcCreat == 0 {
			return nil, unix.ENOENT
		}
	}
	if len(all) >= maxIPC {
		return nil, unix.ENOSPC
	}
	return nil, 0
}

// newIPC makes the common part of an object.
func (c *call) newIPC(key, flags int) ipcObject {
	s := c.p.fam.ipc()
	s.lastID++
	cred := &c.p.cred
	return ipcObject{id: s.lastID, key: key, mode: uint32(flags & 0o777), creator: c.p.PID, uid: cred.uid[1], gid: cred.gid[1],
		changed: c.seconds(), channel: c.p.newChannel()}
}

func (c *call) seconds() int64 { return (c.p.Now() + c.p.clock.real) / 1e9 }

// put writes a struct ipc64_perm of 48 bytes: key, uid, gid, cuid, cgid, mode.
func (o *ipcObject) put(b []byte) {
	put32(b[0:], uint32(o.key))
	put32(b[4:], uint32(o.uid))
	put32(b[8:], uint32(o.gid))
	put32(b[12:], uint32(o.uid))
	put32(b[16:], uint32(o.gid))
	put32(b[20:], o.mode)
}

// set takes over what IPC_SET may change.
func (o *ipcObject) set(b []byte, now int64) {
	o.uid, o.gid, o.mode = int(le32(b[4:])), int(le32(b[8:])), o.mode&^0o777|le32(b[20:])&0o777
	o.changed = now
}

// ipcPermSize is that of struct ipc64_perm.
const ipcPermSize = 48

// wakeAll makes the threads that wait for an object try again.
func wakeAll(list *[]*Thread) {
	for _, t := range *list {
		t.wake()
	}
	*list = nil
}

// ipcWait blocks the call until the object changes; gone says that it was
// removed meanwhile.
func (c *call) ipcWait(list *[]*Thread, again func() int64) int64 {
	t := c.t
	*list = append(*list, t)
	w := &wait{what: c.row.name, try: again, intr: -int64(unix.EINTR), deadline: c.deadline, undo: func() {
		for i, u := range *list {
			if u == t {
				*list = append((*list)[:i:i], (*list)[i+1:]...)
				break
			}
		}
	}}
	if c.deadline != 0 && c.deadline != never {
		w.onTimeout = func() int64 { return fail(unix.EAGAIN) }
	}
	return t.block(w)
}

// wakeRemoved ends the waits for an object that is gone.
func wakeRemoved(list *[]*Thread) {
	for _, t := range append([]*Thread(nil), *list...) {
		t.complete(fail(unix.EIDRM))
	}
	*list = nil
}
