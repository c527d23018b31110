package hwmodel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Each processing unit can have a translation lookaside buffer: the virtual pages
// that it used lately, and which page of physical memory each shows. A log that
// names lines by entries of these buffers must be told of an entry before it
// uses it; an entry that is evicted needs no log, nor does one by which nothing
// was logged.

// A TLB says how big each unit's buffer is, and by what numbers a log names its
// entries. Entries/Ways must be a power of two.
type TLB struct {
	Entries int // 1 to maxTLB
	Ways    int // 1 to 64
	IDs     TLBIDs
}

// DefaultTLB is what today's processors have as a second level. A machine has
// TLBs if it is told of their size, or to name lines by their entries.
var DefaultTLB = TLB{Entries: 1536, Ways: 12}

const maxTLB = 1 << 20

func (t TLB) String() string { return fmt.Sprintf("%d/%d", t.Entries, t.Ways) }

// ParseTLB reads what String returns; "" is the zero value, for the default.
func ParseTLB(s string) (TLB, error) {
	if s == "" {
		return TLB{}, nil
	}
	entries, ways, _ := strings.Cut(s, "/")
	n, err := strconv.Atoi(entries)
	w, err2 := strconv.Atoi(ways)
	if err != nil || err2 != nil || n <= 0 {
		return TLB{}, fmt.Errorf("TLB %q: want entries/ways, for instance %v", s, DefaultTLB)
	}
	return TLB{Entries: n, Ways: w}, nil
}

func (t TLB) check() error {
	if t.Ways < 1 || t.Ways > maxWays {
		return fmt.Errorf("hwmodel: TLB of %d ways, expected 1 to %d", t.Ways, maxWays)
	}
	if n := t.Entries / t.Ways; n < 1 || n&(n-1) != 0 || n*t.Ways != t.Entries || t.Entries > maxTLB {
		return fmt.Errorf("hwmodel: TLB of %d entries in %d ways: the number of sets, entries / ways, must be a power of two, and the entries at most %d", t.Entries, t.Ways, maxTLB)
	}
	return nil
}

// TLBIDs says what a log calls an entry. Numbers are from 1, and unique among
// the entries that are in any unit's buffer; none says where memory is.
type TLBIDs uint8

// The kinds of numbers.
const (
	TLBUnnamed TLBIDs = iota // lines aren't named by entries
	TLBSlot                  // the place in the buffer, and the unit's number
	TLBCounter               // counted in each unit, from its last flush on
	TLBRandom                // pseudo-random, of 32 bits
)

var tlbIDNames = [...]string{"virtual", "slot", "counter", "random"}

// ParseTLBIDs reads what String returns; "" is TLBUnnamed.
func ParseTLBIDs(s string) (TLBIDs, error) {
	if i := slices.Index(tlbIDNames[:], s); i >= 0 {
		return TLBIDs(i), nil
	}
	if s == "" {
		return TLBUnnamed, nil
	}
	return 0, fmt.Errorf("addresses %q: want virtual, slot, counter or random", s)
}

func (i TLBIDs) String() string {
	if int(i) < len(tlbIDNames) {
		return tlbIDNames[i]
	}
	return "invalid"
}

// An EntryLog is a log that was told of entries.
type EntryLog interface {
	// LogEntry tells it once more, because the page turned out to have several
	// virtual addresses: alias is common to all entries of the physical page.
	LogEntry(id, page, alias uint64)
}

// A TLBEntry is a translation that a unit's buffer holds, as far as logs go. It
// is good until the unit translates another page.
type TLBEntry struct {
	id   uint64
	key  pageKey
	phys *physicalPage
	logs []EntryLog // that know of it
}

// A pageKey is a virtual page of an address space.
type pageKey struct{ space, page uint64 }

// A physicalPage is one that entries show.
type physicalPage struct {
	alias   uint64 // 0: only one virtual page of it was logged
	entries []*TLBEntry
}

// tlbs are the buffers of all units.
type tlbs struct {
	cfg     TLB
	units   []tlb
	pages   map[*Line]*physicalPage // by the page's first line; of entries with numbers
	ids     map[uint64]bool         // in use, of TLBRandom
	aliases uint64                  // given out
	random  uint64
}

// tlb is one buffer.
type tlb struct {
	last    int        // the entry used last
	tags    []uint64   // sets × ways: number of the page + 1, 0: empty
	entries []TLBEntry // beside the tags, if they have numbers
	firsts  []*Line    // the first line of each one's page
	ref     []uint64
	space   uint64 // of all entries
	filled  uint64 // since the last flush
}

func newTLBs(c TLB, units int) tlbs {
	if c.Entries == 0 {
		return tlbs{}
	}
	t := tlbs{cfg: c, units: make([]tlb, units), pages: map[*Line]*physicalPage{}, ids: map[uint64]bool{}}
	for i := range t.units {
		t.units[i] = tlb{tags: make([]uint64, c.Entries), ref: make([]uint64, c.Entries/c.Ways)}
		if c.IDs != TLBUnnamed {
			t.units[i].entries, t.units[i].firsts = make([]TLBEntry, c.Entries), make([]*Line, c.Entries)
		}
	}
	return t
}

// Translate returns the entry of a unit's buffer for a virtual page (address >>
// 12) of an address space, filling it if need be. first is the first line of
// the page that it shows. A unit that goes to another address space forgets
// what it has. As with caches, accesses that the window answers aren't seen.
// The result is nil with TLBUnnamed. The machine must have TLBs: Config.HasTLB.
func (m *Machine) Translate(unit int, space, page uint64, first *Line) *TLBEntry {
	t := &m.tlbs.units[unit]
	if t.space != space {
		m.flush(unit)
		t.space = space
	}
	if t.tags[t.last] == page+1 {
		return t.entry()
	}
	ways := m.tlbs.cfg.Ways
	set := int(page & uint64(len(t.ref)-1))
	for i, tag := range t.tags[set*ways:][:ways] {
		if tag == page+1 {
			t.use(set, i, ways)
			return t.entry()
		}
	}
	return m.fillTLB(unit, set, page, first)
}

func (t *tlb) entry() *TLBEntry {
	if t.entries == nil {
		return nil
	}
	return &t.entries[t.last]
}

// use notes that a way was used, as a cache's.
func (t *tlb) use(set, i, ways int) {
	r := t.ref[set] | 1<<i
	if r == ^uint64(0)>>(64-ways) {
		r = 1 << i
	}
	t.ref[set], t.last = r, set*ways+i
}

// fillTLB makes room in a set and puts an entry there.
func (m *Machine) fillTLB(unit, set int, page uint64, first *Line) *TLBEntry {
	t, c := &m.tlbs.units[unit], &m.units[unit].c
	ways := m.tlbs.cfg.Ways
	i := victim(t.ref[set], ^uint64(0)>>(64-ways))
	n := set*ways + i
	c.TLBMisses++
	if t.tags[n] != 0 {
		c.TLBEvictions++
		m.tlbs.drop(t, n)
	}
	t.tags[n] = page + 1
	t.use(set, i, ways)
	e := t.entry()
	if e == nil {
		return nil
	}
	e.id, e.key = m.tlbs.id(unit, n), pageKey{t.space, page}
	t.filled++
	t.firsts[n] = first
	if e.phys = m.tlbs.pages[first]; e.phys == nil {
		e.phys = &physicalPage{}
		m.tlbs.pages[first] = e.phys
	}
	e.phys.entries = append(e.phys.entries, e)
	return e
}

// id returns the number of a new entry, number n of a unit's buffer.
func (s *tlbs) id(unit, n int) uint64 {
	switch s.cfg.IDs {
	case TLBSlot:
		return uint64(unit*s.cfg.Entries+n) + 1
	case TLBCounter:
		return s.units[unit].filled*uint64(len(s.units)) + uint64(unit) + 1
	}
	for {
		s.random += 0x9e3779b97f4a7c15 // SplitMix64 (Steele, Lea, Flood 2014)
		x := s.random
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		if x >>= 32; x != 0 && !s.ids[x] {
			s.ids[x] = true
			return x
		}
	}
}

// drop empties entry n of a buffer.
func (s *tlbs) drop(t *tlb, n int) {
	t.tags[n] = 0
	t.ref[n/s.cfg.Ways] &^= 1 << (n % s.cfg.Ways)
	if t.entries == nil {
		return
	}
	e := &t.entries[n]
	delete(s.ids, e.id)
	if e.phys.entries = slices.DeleteFunc(e.phys.entries, func(o *TLBEntry) bool { return o == e }); len(e.phys.entries) == 0 {
		delete(s.pages, t.firsts[n])
	}
	t.firsts[n] = nil
	*e = TLBEntry{}
}

// flush empties a unit's buffer.
func (m *Machine) flush(unit int) {
	t := &m.tlbs.units[unit]
	some := false
	for n, tag := range t.tags {
		if tag != 0 {
			m.tlbs.drop(t, n)
			some = true
		}
	}
	if some {
		m.units[unit].c.TLBFlushes++
	}
	t.filled = 0
}

// FlushPage takes a virtual page out of all units' buffers, because what it
// shows, or what may be done with it, changes.
func (m *Machine) FlushPage(page uint64) {
	s := &m.tlbs
	if s.units == nil {
		return
	}
	set := int(page & uint64(len(s.units[0].ref)-1))
	for u := range s.units {
		t := &s.units[u]
		for n := set * s.cfg.Ways; n < (set+1)*s.cfg.Ways; n++ {
			if t.tags[n] == page+1 {
				s.drop(t, n)
			}
		}
	}
}

// FlushTLBs empties all units' buffers, because much changes.
func (m *Machine) FlushTLBs() {
	for u := range m.tlbs.units {
		m.flush(u)
	}
}

// Log tells a log of an entry by which it is about to name a line. It returns
// the entry's number, 0 if lines aren't named by entries, and its alias: 0, or a
// number common to all entries of the physical page, once entries for two
// virtual pages of it were logged. The logs of those before are told then.
func (m *Machine) Log(e *TLBEntry, to EntryLog) (id, alias uint64) {
	if e == nil {
		return 0, 0
	}
	p := e.phys
	if !slices.Contains(e.logs, to) {
		e.logs = append(e.logs, to)
		if p.alias == 0 {
			m.join(e, p)
		}
	}
	return e.id, p.alias
}

// join looks whether a newly logged entry shows a page that another logged one
// shows elsewhere, and tells the logs of that.
func (m *Machine) join(e *TLBEntry, p *physicalPage) {
	if !slices.ContainsFunc(p.entries, func(o *TLBEntry) bool { return len(o.logs) > 0 && o.key != e.key }) {
		return
	}
	m.tlbs.aliases++
	p.alias = m.tlbs.aliases
	for _, o := range p.entries {
		for _, l := range o.logs {
			if o != e {
				l.LogEntry(o.id, o.key.page, p.alias)
			}
		}
	}
}
