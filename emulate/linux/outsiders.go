package linux

import (
	"encoding/binary"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Files that the guest maps shared may be changed by processes of the host. What
// they store can't be seen, but who could is known: processes that have the file
// open or mapped when the guest maps it, that open it later, or that were given a
// descriptor. From then on frames of the file have Outside set, and whoever
// records asks what is there at each access.
//
// A lease (fcntl(2), F_SETLEASE) is granted if nobody else has the file open, and
// makes who opens it wait until it is given back: nothing is missed. Where there
// is none to have (the guest itself has opened the file twice, or it is somebody
// else's), a look at the host's processes and inotify(7) must do.

// outsiders watches the files that the guest maps shared.
type outsiders struct {
	inotify int // host descriptor, -1: none
	watched map[int32]*backing
	given   map[backKey]bool // files of which a process of the host got a descriptor
	scans   int

	leases []*backing
	news   chan os.Signal // SIGIO: somebody wants to open a file with a lease
}

// maxScans bounds how often the host's processes are looked at; files that are
// mapped after that count as others', too.
const maxScans = 64

// mapped is called when the first shared mapping of a file is made.
func (mem *physical) mapped(b *backing) {
	o := &mem.outsiders
	var st unix.Stat_t
	if b.fd < 0 || b.outside || unix.Fstat(b.fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	key := backKey{st.Dev, st.Ino}
	switch {
	case o.given[key]:
		mem.opened(b)
		return
	case st.Nlink == 0:
		return // nobody can open it any more, or it is a memfd
	}
	if _, err := unix.FcntlInt(uintptr(b.fd), unix.F_SETLEASE, unix.F_WRLCK); err == nil {
		if o.news == nil {
			o.news = make(chan os.Signal, 1)
			signal.Notify(o.news, unix.SIGIO)
		}
		o.leases = append(o.leases, b)
		return
	}
	mem.watch(b, key, &st)
}

// watch does without a lease.
func (mem *physical) watch(b *backing, key backKey, st *unix.Stat_t) {
	o := &mem.outsiders
	if o.inotify < 0 {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if err != nil {
			mem.opened(b)
			return
		}
		o.inotify = fd
	}
	wd, err := unix.InotifyAddWatch(o.inotify, procFD(b.fd), unix.IN_OPEN)
	if err != nil {
		mem.opened(b)
		return
	}
	if o.watched == nil {
		o.watched = map[int32]*backing{}
	}
	o.watched[int32(wd)] = b
	if quiet(b.fd, st) {
		return
	}
	if o.scans++; o.scans > maxScans || hasWriter(key) {
		mem.opened(b)
	}
}

// quiet reports whether a file hasn't changed for long, so that nobody is likely
// to have it mapped for writing. In memory, a file's time says nothing.
func quiet(fd int, st *unix.Stat_t) bool {
	const long = time.Hour
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Type == unix.TMPFS_MAGIC {
		return false
	}
	return time.Since(time.Unix(st.Mtim.Unix())) > long
}

// hasWriter reports whether another process of the host has a file open for
// writing, or mapped so, as far as this process may see that.
func hasWriter(key backKey) bool {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if filepath.Base(dir) == strconv.Itoa(os.Getpid()) {
			continue
		}
		if maps, err := os.ReadFile(dir + "/maps"); err == nil && mapsWritable(string(maps), key) {
			return true
		}
		fds, _ := os.ReadDir(dir + "/fd")
		for _, fd := range fds {
			var st unix.Stat_t
			if unix.Stat(dir+"/fd/"+fd.Name(), &st) == nil && st.Ino == key.ino && st.Dev == key.dev && opensWritable(dir+"/fdinfo/"+fd.Name()) {
				return true
			}
		}
	}
	return false
}

// mapsWritable reports whether /proc/PID/maps has a writable shared mapping of a
// file.
func mapsWritable(maps string, key backKey) bool {
	for line := range strings.Lines(maps) {
		f := strings.Fields(line)
		if len(f) < 5 || !strings.HasSuffix(f[1], "s") || !strings.Contains(f[1], "w") {
			continue
		}
		if ino, err := strconv.ParseUint(f[4], 10, 64); err == nil && ino == key.ino {
			return true
		}
	}
	return false
}

// opensWritable reports whether a descriptor's fdinfo says that it may write.
func opensWritable(path string) bool {
	b, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "flags:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(v), 8, 64)
			return err == nil && n&unix.O_ACCMODE != unix.O_RDONLY
		}
	}
	return false
}

// opened notes that others can change a file from now on.
func (mem *physical) opened(b *backing) {
	if b.outside {
		return
	}
	b.outside = true
	for page, f := range b.frames {
		f.Outside = new([PageSize]byte)
		for _, s := range mem.spaces {
			if a := s.addrOf(b, page<<pageShift); a != 0 {
				s.hooks.KernelWrite(nil, a, f, 0, PageSize)
			}
		}
	}
}

// yield gives a lease back.
func (mem *physical) yield(b *backing) {
	o := &mem.outsiders
	for i, l := range o.leases {
		if l == b {
			o.leases = append(o.leases[:i], o.leases[i+1:]...)
			unix.FcntlInt(uintptr(b.fd), unix.F_SETLEASE, unix.F_UNLCK)
			return
		}
	}
}

// yieldAll gives all leases back, because this process is about to open files.
func (mem *physical) yieldAll() {
	mem.listenFiles(false)
	for len(mem.outsiders.leases) > 0 {
		b := mem.outsiders.leases[0]
		mem.yield(b)
		var st unix.Stat_t
		if unix.Fstat(b.fd, &st) == nil {
			mem.watch(b, backKey{st.Dev, st.Ino}, &st)
		}
	}
}

// wanted makes files outsiders' whose leases stand in somebody's way.
func (mem *physical) wanted() {
	for _, b := range append([]*backing(nil), mem.outsiders.leases...) {
		if now, err := unix.FcntlInt(uintptr(b.fd), unix.F_GETLEASE, 0); err == nil && now != unix.F_WRLCK {
			mem.opened(b)
			mem.yield(b)
		}
	}
}

// listenFiles takes what inotify has told. If ours is set, it was this process that
// opened the files.
func (mem *physical) listenFiles(ours bool) {
	o := &mem.outsiders
	select {
	case <-o.news:
		mem.wanted()
	default:
	}
	if len(o.watched) == 0 {
		return
	}
	var buf [4096]byte
	for {
		n, err := unix.Read(o.inotify, buf[:])
		if n <= 0 || err != nil {
			return
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd, mask := int32(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:])
			switch back := o.watched[wd]; {
			case mask&unix.IN_Q_OVERFLOW != 0:
				for _, back := range o.watched {
					mem.opened(back)
				}
			case mask&unix.IN_OPEN != 0 && back != nil && !ours:
				mem.opened(back)
			}
			b = b[min(len(b), unix.SizeofInotifyEvent+int(binary.LittleEndian.Uint32(b[12:]))):]
		}
	}
}

// released ends the watch of a file that isn't mapped any more.
func (mem *physical) released(b *backing) {
	mem.yield(b)
	for wd, w := range mem.outsiders.watched {
		if w == b {
			unix.InotifyRmWatch(mem.outsiders.inotify, uint32(wd))
			delete(mem.outsiders.watched, wd)
		}
	}
}

// give notes that a process of the host gets the file of a host descriptor.
func (mem *physical) give(fd int) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	if fl, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || fl&unix.O_ACCMODE == unix.O_RDONLY {
		return
	}
	o, key := &mem.outsiders, backKey{st.Dev, st.Ino}
	if o.given == nil {
		o.given = map[backKey]bool{}
	}
	o.given[key] = true
	if b := mem.files[key]; b != nil && b.vmas > 0 {
		mem.opened(b)
	}
}
