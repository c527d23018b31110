package linux

import (
	"golang.org/x/sys/unix"
)

// credentials are the user and group numbers that a process sees. They are
// numbers only: files are reached with the rights of the process that runs the
// guest. A program of the host that an unrecorded child executes gets them in
// earnest.
type credentials struct {
	uid, gid [3]int // real, effective, saved
	groups   []uint32
	changed  bool
	capabilities
}

const noteCred = "only the numbers: files are reached with racesim's rights"

func init() {
	addCalls([]sysRow{
		{nr: 102, name: "getuid", fn: func(c *call) int64 { return int64(c.p.cred.uid[0]) }},
		{nr: 104, name: "getgid", fn: func(c *call) int64 { return int64(c.p.cred.gid[0]) }},
		{nr: 107, name: "geteuid", fn: func(c *call) int64 { return int64(c.p.cred.uid[1]) }},
		{nr: 108, name: "getegid", fn: func(c *call) int64 { return int64(c.p.cred.gid[1]) }},
		{nr: 118, name: "getresuid", args: ">r, >e, >s", fn: func(c *call) int64 { return c.putIDs(&c.p.cred.uid) }},
		{nr: 120, name: "getresgid", args: ">r, >e, >s", fn: func(c *call) int64 { return c.putIDs(&c.p.cred.gid) }},
		{nr: 115, name: "getgroups", args: "n, >list", fn: sysGetgroups},
		{nr: 105, name: "setuid", args: "uid", fn: func(c *call) int64 { return c.setID(&c.p.cred.uid) }, note: noteCred},
		{nr: 106, name: "setgid", args: "gid", fn: func(c *call) int64 { return c.setID(&c.p.cred.gid) }, note: noteCred},
		{nr: 113, name: "setreuid", args: "r, e", fn: func(c *call) int64 { return c.setReal(&c.p.cred.uid) }, note: noteCred},
		{nr: 114, name: "setregid", args: "r, e", fn: func(c *call) int64 { return c.setReal(&c.p.cred.gid) }, note: noteCred},
		{nr: 117, name: "setresuid", args: "r, e, s", fn: func(c *call) int64 { return c.setAll(&c.p.cred.uid) }, note: noteCred},
		{nr: 119, name: "setresgid", args: "r, e, s", fn: func(c *call) int64 { return c.setAll(&c.p.cred.gid) }, note: noteCred},
		{nr: 122, name: "setfsuid", args: "uid", fn: func(c *call) int64 { return int64(c.p.cred.uid[1]) }, note: "does nothing"},
		{nr: 123, name: "setfsgid", args: "gid", fn: func(c *call) int64 { return int64(c.p.cred.gid[1]) }, note: "does nothing"},
		{nr: 116, name: "setgroups", args: "n, <list", fn: sysSetgroups, note: noteCred},
	})
}

// hostCredentials are those of this process.
func hostCredentials() credentials {
	u, e := unix.Getuid(), unix.Geteuid()
	g, f := unix.Getgid(), unix.Getegid()
	c := credentials{uid: [3]int{u, e, e}, gid: [3]int{g, f, f}, capabilities: hostCapabilities()}
	if groups, err := unix.Getgroups(); err == nil {
		for _, g := range groups {
			c.groups = append(c.groups, uint32(g))
		}
	}
	return c
}

func (c *call) putIDs(ids *[3]int) int64 {
	for i, v := range ids {
		var b [4]byte
		put32(b[:], uint32(v))
		if e := c.write(c.args[i], b[:]); e != 0 {
			return fail(e)
		}
	}
	return 0
}

// mayBe says whether the process may take a number: one that it has, or, as the
// super-user, any.
func (c *call) mayBe(ids *[3]int, id int) bool {
	return c.p.cred.uid[1] == 0 || id == ids[0] || id == ids[1] || id == ids[2]
}

// become sets the numbers that aren't -1.
func (c *call) become(ids *[3]int, want [3]int) int64 {
	for i, id := range want {
		if id != -1 && ids[i] != id {
			ids[i] = id
			c.p.cred.changed = true
		}
	}
	return 0
}

func (c *call) setID(ids *[3]int) int64 {
	id := c.int(0)
	switch {
	case id == -1:
		return fail(unix.EINVAL)
	case c.p.cred.uid[1] == 0:
		return c.become(ids, [3]int{id, id, id})
	case id == ids[0] || id == ids[2]:
		return c.become(ids, [3]int{-1, id, -1})
	}
	return fail(unix.EPERM)
}

func (c *call) setReal(ids *[3]int) int64 {
	want := [3]int{c.int(0), c.int(1), -1}
	if want[0] != -1 && !c.mayBe(ids, want[0]) || want[1] != -1 && !c.mayBe(ids, want[1]) {
		return fail(unix.EPERM)
	}
	if want[0] != -1 || want[1] != -1 && want[1] != ids[0] {
		want[2] = ids[1]
		if want[1] != -1 {
			want[2] = want[1]
		}
	}
	return c.become(ids, want)
}

func (c *call) setAll(ids *[3]int) int64 {
	want := [3]int{c.int(0), c.int(1), c.int(2)}
	for _, id := range want {
		if id != -1 && !c.mayBe(ids, id) {
			return fail(unix.EPERM)
		}
	}
	return c.become(ids, want)
}

// maxGroups is NGROUPS_MAX.
const maxGroups = 65536

func sysGetgroups(c *call) int64 {
	groups := c.p.cred.groups
	if c.int(0) == 0 {
		return int64(len(groups))
	}
	if c.int(0) < len(groups) {
		return fail(unix.EINVAL)
	}
	b := make([]byte, 4*len(groups))
	for i, g := range groups {
		put32(b[4*i:], g)
	}
	return c.answer(c.args[1], b, int64(len(groups)))
}

func sysSetgroups(c *call) int64 {
	if c.p.cred.uid[1] != 0 {
		return fail(unix.EPERM)
	}
	if c.args[0] > maxGroups {
		return fail(unix.EINVAL)
	}
	b := make([]byte, 4*c.args[0])
	if e := c.read(c.args[1], b); e != 0 {
		return fail(e)
	}
	groups := make([]uint32, c.args[0])
	for i := range groups {
		groups[i] = le32(b[4*i:])
	}
	c.p.cred.groups, c.p.cred.changed = groups, true
	return 0
}
