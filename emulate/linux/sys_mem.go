package linux

import (
	"bytes"
	"debug/elf"
	"encoding/hex"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
)

func init() {
	addCalls([]sysRow{
		{nr: 9, name: "mmap", args: "addr, n, prot, flags, fd, offset", fn: sysMmap,
			note: "MAP_GROWSDOWN doesn't grow, huge pages are small"},
		{nr: 11, name: "munmap", args: "addr, n", fn: sysMunmap},
		{nr: 10, name: "mprotect", args: "addr, n, prot", fn: sysMprotect},
		{nr: 25, name: "mremap", args: "old, oldn, newn, flags, new", fn: sysMremap},
		{nr: 12, name: "brk", args: "addr", fn: sysBrk},
		{nr: 28, name: "madvise", args: "addr, n, advice", fn: sysMadvise},
		{nr: 26, name: "msync", args: "addr, n, flags", fn: sysMsync},
		{nr: 27, name: "mincore", args: "addr, n, >vec", fn: sysMincore},
		{nr: 149, name: "mlock", args: "addr, n", fn: answer0, note: "does nothing"},
		{nr: 150, name: "munlock", args: "addr, n", fn: answer0, note: "does nothing"},
		{nr: 151, name: "mlockall", args: "flags", fn: answer0, note: "does nothing"},
		{nr: 152, name: "munlockall", fn: answer0, note: "does nothing"},
		{nr: 325, name: "mlock2", args: "addr, n, flags", fn: answer0, note: "does nothing"},
		{nr: 319, name: "memfd_create", args: "<name, flags", fn: sysMemfd},
		{nr: 237, name: "mbind", args: "addr, n, mode, <mask, max, flags", fn: answer0, note: "does nothing"},
		{nr: 238, name: "set_mempolicy", args: "mode, <mask, max", fn: answer0, note: "does nothing"},
		{nr: 239, name: "get_mempolicy", args: ">mode, >mask, max, addr, flags", refuse: unix.ENOSYS},
		{nr: 329, name: "pkey_mprotect", args: "addr, n, prot, key", refuse: unix.ENOSYS},
		{nr: 330, name: "pkey_alloc", args: "flags, rights", refuse: unix.ENOSYS},
		{nr: 331, name: "pkey_free", args: "key", refuse: unix.ENOSYS},
	})
}

const protMask = unix.PROT_READ | unix.PROT_WRITE | unix.PROT_EXEC

func sysMmap(c *call) int64 {
	addr, n, prot, flags, off := c.args[0], up(c.args[1]), c.int(2), c.int(3), c.args[5]
	as := c.p.AS
	if c.args[1] == 0 || off&pageMask != 0 {
		return fail(unix.EINVAL)
	}
	if n == 0 || n > taskSize {
		return fail(unix.ENOMEM)
	}
	kind := flags & unix.MAP_TYPE
	if kind != unix.MAP_PRIVATE && kind != unix.MAP_SHARED && kind != unix.MAP_SHARED_VALIDATE {
		return fail(unix.EINVAL)
	}
	v := &vma{prot: prot & protMask, shared: kind != unix.MAP_PRIVATE, off: off}
	if ours := !v.shared || flags&unix.MAP_ANONYMOUS != 0; ours && prot&unix.PROT_WRITE != 0 &&
		flags&unix.MAP_NORESERVE == 0 && !as.room(n) {
		return fail(unix.ENOMEM)
	}
	if flags&unix.MAP_FIXED == 0 && !c.p.fits(n) {
		return fail(unix.ENOMEM)
	}
	var d *descriptor
	if flags&unix.MAP_ANONYMOUS == 0 {
		if d = c.fd(4); d == nil {
			return fail(unix.EBADF)
		}
		mode, _ := unix.FcntlInt(uintptr(d.host), unix.F_GETFL, 0)
		acc := mode & unix.O_ACCMODE
		if mode&unix.O_PATH != 0 {
			return fail(unix.EBADF)
		}
		if acc == unix.O_WRONLY || v.shared && prot&unix.PROT_WRITE != 0 && acc != unix.O_RDWR {
			return fail(unix.EACCES)
		}
		if !d.file.reg {
			if d.file.path != "/dev/zero" {
				return fail(unix.ENODEV)
			}
			d = nil
		}
	}
	switch {
	case flags&(unix.MAP_FIXED|unix.MAP_FIXED_NOREPLACE) != 0:
		if addr&pageMask != 0 || addr+n > taskSize || addr+n < addr {
			return fail(unix.EINVAL)
		}
		if addr < mmapLow {
			return fail(unix.EPERM)
		}
		if flags&unix.MAP_FIXED_NOREPLACE != 0 && !as.vmas.free(addr, addr+n) {
			return fail(unix.EEXIST)
		}
	default:
		var e unix.Errno
		if flags&unix.MAP_32BIT != 0 {
			var ok bool
			if addr, ok = as.vmas.gap(n, 1<<30, 1<<31); !ok {
				return fail(unix.ENOMEM)
			}
		} else if addr, e = as.pick(addr, n); e != 0 {
			return fail(e)
		}
	}
	v.start, v.end = addr, addr+n
	if d != nil {
		b, e := as.fileBacking(d.host, d.file.path)
		if e != 0 {
			return fail(e)
		}
		v.back = b
	} else {
		v.off = 0
		if v.shared {
			v.back = as.anonBacking()
		}
	}
	as.place(v)
	if d != nil && prot&unix.PROT_EXEC != 0 {
		c.p.tellModule(d.host, d.file.path, addr, off)
	}
	return int64(addr)
}

// tellModule tells the hooks of the ELF image open at host descriptor fd, of
// which offset off has been mapped executable at addr. Other files are
// nobody's business.
func (p *Process) tellModule(fd int, path string, addr, off uint64) {
	r := fileAt{fd}
	f, err := elf.NewFile(r)
	if err != nil {
		return
	}
	for _, ph := range f.Progs {
		if ph.Type == elf.PT_LOAD && ph.Flags&elf.PF_X != 0 && ph.Off&^pageMask == off {
			p.hooks.Module(moduleOf(fd, path, emulate.Addr(addr-ph.Vaddr&^pageMask), f))
			return
		}
	}
}

// fileAt reads from a host descriptor.
type fileAt struct{ fd int }

func (r fileAt) ReadAt(b []byte, off int64) (int, error) {
	n, err := unix.Pread(r.fd, b, off)
	if err == nil && n < len(b) {
		err = errShort
	}
	return n, err
}

// moduleOf describes the ELF file f, open at fd.
func moduleOf(fd int, path string, base emulate.Addr, f *elf.File) Module {
	m := Module{Path: path, Base: base}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil {
		m.Size, m.ModTime = st.Size, st.Mtim.Nano()
	}
	for _, ph := range f.Progs {
		if ph.Type != elf.PT_NOTE || ph.Filesz > 1<<16 {
			continue
		}
		note := make([]byte, ph.Filesz)
		if _, err := ph.ReadAt(note, 0); err == nil {
			if id := buildID(note); id != "" {
				m.BuildID = id
			}
		}
	}
	return m
}

// buildID finds the GNU build ID in a note segment: name size, descriptor
// size, type, name and descriptor padded to 4 bytes.
func buildID(b []byte) string {
	for len(b) >= 12 {
		nameN, descN, typ := uint64(le32(b)), uint64(le32(b[4:])), le32(b[8:])
		desc := 12 + (nameN+3)&^3
		end := desc + descN
		if end > uint64(len(b)) || nameN > uint64(len(b)) {
			return ""
		}
		if typ == 3 && bytes.HasPrefix(b[12:], []byte("GNU\x00")) {
			return hex.EncodeToString(b[desc:end])
		}
		b = b[min((end+3)&^3, uint64(len(b))):]
	}
	return ""
}

func sysMunmap(c *call) int64 {
	addr, n := c.args[0], up(c.args[1])
	if addr&pageMask != 0 || n == 0 || addr+n > taskSize || addr+n < addr {
		return fail(unix.EINVAL)
	}
	c.p.AS.unmap(addr, addr+n)
	return 0
}

func sysMprotect(c *call) int64 {
	addr, n := c.args[0], up(c.args[1])
	if addr&pageMask != 0 || c.int(2)&^protMask != 0 {
		return fail(unix.EINVAL)
	}
	if addr+n > taskSize || addr+n < addr {
		return fail(unix.ENOMEM)
	}
	if n == 0 {
		return 0
	}
	if v := c.p.AS.vmas.find(addr); c.int(2)&unix.PROT_WRITE != 0 && v != nil && v.prot&unix.PROT_WRITE == 0 && !c.p.AS.room(n) {
		return fail(unix.ENOMEM)
	}
	return -int64(c.p.AS.protect(addr, addr+n, c.int(2)))
}

func sysMremap(c *call) int64 {
	if old, size := up(c.args[1]), up(c.args[2]); size > old && size < taskSize && !c.p.fits(size-old) {
		return fail(unix.ENOMEM)
	}
	addr, e := c.p.AS.remap(c.args[0], c.args[1], c.args[2], c.int(3), c.args[4])
	if e != 0 {
		return fail(e)
	}
	return int64(addr)
}

func sysBrk(c *call) int64 {
	as := c.p.AS
	if to := c.args[0]; to > as.brk && !c.p.fits(to-as.brk) {
		return int64(as.brk)
	}
	return int64(as.setBrk(c.args[0]))
}

func sysMadvise(c *call) int64 {
	addr, n := c.args[0], up(c.args[1])
	if addr&pageMask != 0 || addr+n < addr {
		return fail(unix.EINVAL)
	}
	switch c.int(2) {
	case unix.MADV_DONTNEED:
		if !c.p.AS.vmas.covered(addr, addr+n) {
			return fail(unix.ENOMEM)
		}
		c.p.AS.discard(addr, addr+n)
	case unix.MADV_DONTFORK:
		return -int64(c.p.AS.forks(addr, addr+n, forkSkips))
	case unix.MADV_WIPEONFORK:
		return -int64(c.p.AS.forks(addr, addr+n, forkWipes))
	case unix.MADV_DOFORK, unix.MADV_KEEPONFORK:
		return -int64(c.p.AS.forks(addr, addr+n, forkCopies))
	case unix.MADV_REMOVE, unix.MADV_HWPOISON:
		return fail(unix.EINVAL)
	}
	return 0
}

func sysMsync(c *call) int64 {
	addr, n := c.args[0], up(c.args[1])
	if addr&pageMask != 0 {
		return fail(unix.EINVAL)
	}
	if !c.p.AS.vmas.covered(addr, addr+n) {
		return fail(unix.ENOMEM)
	}
	return 0 // shared mappings are the host's: the file has the content
}

func sysMincore(c *call) int64 {
	addr, n := c.args[0], up(c.args[1])
	if addr&pageMask != 0 || n > 1<<40 {
		return fail(unix.EINVAL)
	}
	if !c.p.AS.vmas.covered(addr, addr+n) {
		return fail(unix.ENOMEM)
	}
	vec := make([]byte, n>>pageShift)
	c.p.AS.pt.each(addr>>pageShift, (addr+n)>>pageShift, func(page uint64, _ *pte) {
		vec[page-addr>>pageShift] = 1
	})
	return c.answer(c.args[2], vec, 0)
}

func sysMemfd(c *call) int64 {
	name, e := c.string(0)
	if e != 0 {
		return fail(e)
	}
	fd, err := unix.MemfdCreate(name, c.int(1)&^unix.MFD_HUGETLB|unix.MFD_CLOEXEC)
	if err != nil {
		return status(err)
	}
	return c.adopt(fd, "/memfd:"+name+" (deleted)", c.int(1)&unix.MFD_CLOEXEC != 0, nil)
}
