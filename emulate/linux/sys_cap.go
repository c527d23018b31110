package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 125, name: "capget", args: "~header, >data", fn: sysCapget},
		{nr: 126, name: "capset", args: "<header, <data", fn: sysCapset, note: noteCred},
	})
}

// Capabilities (capabilities(7)) that mean something here: what takes others is
// refused.
const ourCaps = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER |
	1<<unix.CAP_FSETID | 1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_SETPCAP |
	1<<unix.CAP_NET_BIND_SERVICE | 1<<unix.CAP_NET_RAW | 1<<unix.CAP_SETFCAP

// capabilities are a process's sets.
type capabilities struct{ effective, permitted, inheritable uint64 }

// hostCapabilities are what this process has of ours.
func hostCapabilities() capabilities {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var d [2]unix.CapUserData
	if unix.Capget(&h, &d[0]) != nil {
		return capabilities{}
	}
	mask := func(lo, hi uint32) uint64 { return (uint64(hi)<<32 | uint64(lo)) & ourCaps }
	return capabilities{mask(d[0].Effective, d[1].Effective), mask(d[0].Permitted, d[1].Permitted), 0}
}

// caps are the process's sets: without user number 0 they are empty.
func (c *credentials) caps() capabilities {
	k := c.capabilities
	if c.uid[1] != 0 {
		k.effective = 0
	}
	if c.uid[0] != 0 && c.uid[1] != 0 && c.uid[2] != 0 {
		k.permitted = 0
	}
	return k
}

// capHeader reads the header of capget and capset: the version, which says how
// many words each set has, and a process.
func (c *call) capHeader() (words int, p *Process, e unix.Errno) {
	var b [8]byte
	if e := c.read(c.args[0], b[:]); e != 0 {
		return 0, nil, e
	}
	switch le32(b[:]) {
	case unix.LINUX_CAPABILITY_VERSION_1:
		words = 1
	case unix.LINUX_CAPABILITY_VERSION_2, unix.LINUX_CAPABILITY_VERSION_3:
		words = 2
	default:
		put32(b[:], unix.LINUX_CAPABILITY_VERSION_3)
		if e := c.write(c.args[0], b[:4]); e != 0 {
			return 0, nil, e
		}
		return 0, nil, unix.EINVAL
	}
	pid := int(int32(le32(b[4:])))
	switch t := c.p.fam.thread(pid); {
	case pid == 0:
		return words, c.p, 0
	case pid < 0:
		return 0, nil, unix.EINVAL
	case t != nil:
		return words, t.p, 0
	case pid == 1:
		return words, nil, 0 // the host's first process, which has all
	}
	return 0, nil, unix.ESRCH
}

func sysCapget(c *call) int64 {
	words, p, e := c.capHeader()
	if c.args[1] == 0 && e == unix.EINVAL {
		return 0 // the caller only asks for the version
	}
	if e != 0 {
		return fail(e)
	}
	k := capabilities{1<<(unix.CAP_LAST_CAP+1) - 1, 1<<(unix.CAP_LAST_CAP+1) - 1, 0}
	if p != nil {
		k = p.cred.caps()
	}
	var b [24]byte
	for i := range words {
		put32(b[12*i:], uint32(k.effective>>(32*i)))
		put32(b[12*i+4:], uint32(k.permitted>>(32*i)))
		put32(b[12*i+8:], uint32(k.inheritable>>(32*i)))
	}
	if c.args[1] == 0 {
		return 0
	}
	return c.answer(c.args[1], b[:12*words], 0)
}

func sysCapset(c *call) int64 {
	words, p, e := c.capHeader()
	if e != 0 {
		return fail(e)
	}
	if p != c.p {
		return fail(unix.EPERM)
	}
	var b [24]byte
	if e := c.read(c.args[1], b[:12*words]); e != 0 {
		return fail(e)
	}
	var k capabilities
	for i := range words {
		k.effective |= uint64(le32(b[12*i:])) << (32 * i)
		k.permitted |= uint64(le32(b[12*i+4:])) << (32 * i)
		k.inheritable |= uint64(le32(b[12*i+8:])) << (32 * i)
	}
	old := p.cred.caps()
	if k.permitted&^old.permitted != 0 || k.effective&^k.permitted != 0 || k.inheritable&^(old.inheritable|old.permitted) != 0 {
		return fail(unix.EPERM)
	}
	p.cred.capabilities = k
	return 0
}
