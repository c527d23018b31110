package detect

import (
	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
)

// A file descriptor that one thread closes while another may still use it names,
// from then on, nothing or some other file. Its uses, and the end of its life,
// are those that the program asks for: what the run-time does to the descriptors
// of its streams is its business.

// usingCalls are the system calls that use the descriptors in the arguments
// whose numbers are given.
var usingCalls = map[uint64][]int{
	unix.SYS_READ: {0}, unix.SYS_WRITE: {0}, unix.SYS_PREAD64: {0}, unix.SYS_PWRITE64: {0}, unix.SYS_READV: {0}, unix.SYS_WRITEV: {0},
	unix.SYS_PREADV: {0}, unix.SYS_PWRITEV: {0}, unix.SYS_PREADV2: {0}, unix.SYS_PWRITEV2: {0},
	unix.SYS_LSEEK: {0}, unix.SYS_FSTAT: {0}, unix.SYS_FTRUNCATE: {0}, unix.SYS_FALLOCATE: {0}, unix.SYS_FSYNC: {0}, unix.SYS_FDATASYNC: {0},
	unix.SYS_FCHMOD: {0}, unix.SYS_FCHOWN: {0}, unix.SYS_FLOCK: {0}, unix.SYS_IOCTL: {0}, unix.SYS_FCNTL: {0}, unix.SYS_GETDENTS64: {0},
	unix.SYS_SENDFILE: {0, 1}, unix.SYS_SPLICE: {0, 2}, unix.SYS_TEE: {0, 1}, unix.SYS_COPY_FILE_RANGE: {0, 2}, unix.SYS_VMSPLICE: {0},
	unix.SYS_SENDTO: {0}, unix.SYS_RECVFROM: {0}, unix.SYS_SENDMSG: {0}, unix.SYS_RECVMSG: {0}, unix.SYS_SENDMMSG: {0}, unix.SYS_RECVMMSG: {0},
	unix.SYS_SHUTDOWN: {0}, unix.SYS_CONNECT: {0}, unix.SYS_BIND: {0}, unix.SYS_LISTEN: {0}, unix.SYS_ACCEPT: {0}, unix.SYS_ACCEPT4: {0},
	unix.SYS_GETSOCKNAME: {0}, unix.SYS_GETPEERNAME: {0}, unix.SYS_SETSOCKOPT: {0}, unix.SYS_GETSOCKOPT: {0},
	unix.SYS_EPOLL_CTL: {0, 2}, unix.SYS_EPOLL_WAIT: {0}, unix.SYS_EPOLL_PWAIT: {0}, unix.SYS_TIMERFD_SETTIME: {0}, unix.SYS_TIMERFD_GETTIME: {0},
	unix.SYS_DUP: {0}, unix.SYS_DUP2: {0}, unix.SYS_DUP3: {0},
}

// descriptorCalls are the functions of the C library that do nothing but make
// such a system call.
var descriptorCalls = map[string]bool{}

func init() {
	for _, n := range []string{"read", "write", "pread", "pwrite", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev", "preadv2", "pwritev2",
		"lseek", "lseek64", "fstat", "fstat64", "ftruncate", "ftruncate64", "fallocate", "posix_fallocate", "fsync", "fdatasync", "fchmod", "fchown", "flock",
		"ioctl", "fcntl", "fcntl64", "sendfile", "sendfile64", "splice", "tee", "copy_file_range", "vmsplice", "send", "recv", "sendto", "recvfrom", "sendmsg", "recvmsg",
		"sendmmsg", "recvmmsg", "shutdown", "connect", "bind", "listen", "accept", "accept4", "getsockname", "getpeername", "setsockopt", "getsockopt",
		"epoll_ctl", "epoll_wait", "epoll_pwait", "timerfd_settime", "timerfd_gettime", "dup", "dup2", "dup3", "close", "syscall", "__read_chk", "__pread_chk", "__recv_chk"} {
		descriptorCalls[n] = true
	}
}

// maxDescriptor bounds what counts as the number of a descriptor.
const maxDescriptor = 1 << 30

// useDescriptors notes what the system call that begins does to descriptors.
func (f *follower) useDescriptors() {
	uses := usingCalls[f.call.nr]
	if uses == nil && f.call.nr != unix.SYS_CLOSE {
		return
	}
	pl := f.p.Tree.Place(f.calls.Node(), emulate.Addr(f.call.pc))
	own := pl.Category != 0 && !descriptorCalls[pl.Runtime.Name]
	for _, i := range uses {
		if !own {
			f.descriptor(races.Read, f.call.args[i], &pl)
		}
	}
	switch f.call.nr {
	case unix.SYS_CLOSE:
		if own {
			f.renew(f.call.args[0])
			return
		}
		f.descriptor(races.Free, f.call.args[0], &pl)
	case unix.SYS_DUP2, unix.SYS_DUP3:
		// It puts another file in the place of one that others may use: that is
		// how programs keep a number taken. It isn't the end of its life.
		if !own {
			f.descriptor(races.Read, f.call.args[1], &pl)
		}
	}
}

func (f *follower) descriptor(kind races.Kind, fd uint64, pl *funcs.Place) {
	fd = uint64(uint32(fd)) // an int
	if fd >= maxDescriptor {
		return
	}
	ctx, pc := f.calls.Node(), f.call.pc
	if pl.Category != 0 {
		ctx, pc = pl.User, uint64(pl.UserPC)
	}
	f.b.events = append(f.b.events, races.Event{Op: races.OpUse, Kind: kind, Thread: f.tt.ID, Object: races.ObjDescriptor, Value: fd, PC: pc, Ctx: ctx, Count: f.t.Count()})
}

func (f *follower) renew(fd uint64) {
	f.b.events = append(f.b.events, races.Event{Op: races.OpRenew, Thread: f.tt.ID, Object: races.ObjDescriptor, Value: fd})
}

// renewDescriptors notes which descriptors the system call that ends, without an
// error, has made.
func (f *follower) renewDescriptors(ret uint64) {
	switch f.call.nr {
	case unix.SYS_OPEN, unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_CREAT, unix.SYS_SOCKET, unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_DUP,
		unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_CREATE1, unix.SYS_EVENTFD, unix.SYS_EVENTFD2, unix.SYS_TIMERFD_CREATE, unix.SYS_SIGNALFD, unix.SYS_SIGNALFD4,
		unix.SYS_INOTIFY_INIT, unix.SYS_INOTIFY_INIT1, unix.SYS_MEMFD_CREATE, unix.SYS_PIDFD_OPEN, unix.SYS_MQ_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT:
		f.renew(ret)
	case unix.SYS_FCNTL:
		if cmd := f.call.args[1]; cmd == unix.F_DUPFD || cmd == unix.F_DUPFD_CLOEXEC {
			f.renew(ret)
		}
	case unix.SYS_PIPE, unix.SYS_PIPE2, unix.SYS_SOCKETPAIR:
		at := f.call.args[0]
		if f.call.nr == unix.SYS_SOCKETPAIR {
			at = f.call.args[3]
		}
		for i := uint64(0); i < 2; i++ {
			if fd, ok := overlay.ReadUint(f.t.Memory(), at+4*i, 4); ok {
				f.renew(fd)
			}
		}
	case unix.SYS_RECVMSG, unix.SYS_RECVMMSG, unix.SYS_IOCTL, unix.SYS_PIDFD_GETFD, unix.SYS_IO_URING_SETUP, unix.SYS_PERF_EVENT_OPEN, unix.SYS_BPF:
		// Some of them bring descriptors, and which isn't told.
		f.renew(^uint64(0))
	}
}
