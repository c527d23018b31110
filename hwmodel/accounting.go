package hwmodel

import (
	"fmt"
	"strconv"
	"strings"
)

// AccountingKind says who remembers that a thread's stream holds a line. What
// is forgotten is logged again when it is consumed next: traces differ in size
// and mean the same.
type AccountingKind uint8

// The kinds.
const (
	AccountThreads  AccountingKind = iota // each thread's Knowledge, for ever
	AccountLines                          // a bit for each unit of a core on each line of its caches for data, until the last one evicts it
	AccountUnits                          // a bit for each unit on each line of the last-level cache, until it is evicted
	AccountReserved                       // the same, but the bits take ways of that cache
	AccountWays                           // as with AccountLines, but logged lines may only be in some of the ways
)

// An Accounting is a kind, and with the last two how many ways of each set.
type Accounting struct {
	Kind AccountingKind
	Ways uint8
}

// ParseAccounting reads what String returns.
func ParseAccounting(s string) (Accounting, error) {
	name, num, has := strings.Cut(s, ":")
	for k := AccountThreads; k <= AccountWays; k++ {
		a := Accounting{Kind: k}
		if name != a.name() {
			continue
		}
		if k < AccountReserved && !has {
			return a, nil
		}
		n, err := strconv.ParseUint(num, 10, 8)
		if k < AccountReserved || err != nil || n < 1 || n > maxWays {
			break
		}
		a.Ways = uint8(n)
		return a, nil
	}
	return Accounting{}, fmt.Errorf("accounting %q: want threads, lines, units, reserved:WAYS or ways:WAYS", s)
}

func (a Accounting) name() string {
	return [...]string{"threads", "lines", "units", "reserved", "ways"}[a.Kind]
}

func (a Accounting) String() string {
	if a.Kind < AccountReserved {
		return a.name()
	}
	return fmt.Sprintf("%s:%d", a.name(), a.Ways)
}

// check says whether the caches have so many ways.
func (c *Config) checkAccounting() error {
	a := c.Accounting
	switch {
	case a.Kind == AccountWays && int(a.Ways) > c.outermost().Ways:
		return fmt.Errorf("hwmodel: accounting %v: the cache has %d ways", a, c.outermost().Ways)
	case a.Kind == AccountReserved && int(a.Ways) >= c.LLC.Ways:
		return fmt.Errorf("hwmodel: accounting %v: the last-level cache has %d ways, one must be left", a, c.LLC.Ways)
	}
	return nil
}

// Remembers says whether the hardware still knows that the line of a unit's last
// Access was logged for it.
func (m *Machine) Remembers(unit int) bool {
	u := &m.units[unit]
	switch m.cfg.Accounting.Kind {
	case AccountThreads:
		return true
	case AccountUnits, AccountReserved:
		if l := u.at.l; l.flags&flagLLC != 0 {
			return *m.llc.bitsOf(l)>>unit&1 != 0
		}
	}
	return u.at.known>>u.slot&1 != 0
}

// Remember notes that the line of a unit's last Access is logged; by a write,
// all others lose it.
func (m *Machine) Remember(unit int, write bool) {
	if m.cfg.Accounting.Kind == AccountThreads {
		return
	}
	u := &m.units[unit]
	if write {
		u.at.known = 0
	}
	u.at.known |= 1 << u.slot
	if l := u.at.l; l.flags&flagLLC != 0 {
		b := m.llc.bitsOf(l)
		if write {
			*b = 0
		}
		*b |= 1 << unit
	}
}

// bitsOf returns the bits of a line that the last-level cache holds.
func (c *llc) bitsOf(l *Line) *uint64 { return &c.bits[int(l.home&c.mask)*c.n+int(l.way)] }

// Prefetch brings a line into the caches of a unit's core, as a load would, if
// they don't have it. The window gets no tag: who consumes the line must ask, and it
// is logged then.
func (m *Machine) Prefetch(unit int, l *Line, vline uint64) {
	if l.State(m.units[unit].core.id) == Invalid {
		at := m.units[unit].at
		m.Access(unit, l, vline, false)
		m.units[unit].at = at
		m.units[unit].c.Prefetches++
	}
}

// Missed says whether the unit's last Access wasn't a hit in its first-level
// cache.
func (m *Machine) Missed(unit int) bool { return m.units[unit].missed }
