package hwmodel

// Knowledge says which lines one thread's stream holds in their present
// version, by virtual line: a replay of the thread has their bytes.
//
// The rules, for every line l and every pair of a thread's Knowledge and a
// virtual line, called a knower:
//
//   - A knower knows l iff it learnt l.Version, which isn't 0. No two lines
//     ever have the same version but 0.
//   - l counts its knowers: none, one, or many. The count may be too high (a
//     knower may forget), never too low.
//   - Learn adds a knower. It doesn't change the version, or no other knower
//     would know the line any longer.
//   - Claim, by a knower that knows l, leaves it the only one: if there may be
//     others, l gets a new version, which only the claimer learns.
//   - Invalidate leaves none: l gets a new version that nobody learns.
//
// So after a Claim by one knower, no other knows the line until it learns it
// again, and a Learn by another makes the next Claim change the version. A
// write tag is right exactly while its knower is the only one: the caller must
// take it away before somebody else learns, which Access by the other's unit
// does, and clearing the window when a unit switches threads.
type Knowledge struct {
	m     *Machine
	gen   uint32
	shift uint8 // 64 - log2(len(table))
	used  int
	table []*known // hashed by page, open addressing
}

// known is what is known of one virtual page.
type known struct {
	page    uint64
	gen     uint32
	now     uint64 // lines whose version was learnt since gen began, a bit each
	version [pageLines]uint64
}

const pageLines = 4096 / LineSize

// NewKnowledge returns the knowledge of a thread that knows nothing.
func (m *Machine) NewKnowledge() *Knowledge {
	return &Knowledge{m: m, gen: 1, shift: 64 - 4, table: make([]*known, 1<<4)}
}

// Known says whether the thread knows the line under vline.
func (k *Knowledge) Known(vline uint64, l *Line) bool {
	p := k.page(vline / pageLines)
	return p != nil && p.gen == k.gen && p.now>>(vline%pageLines)&1 != 0 && p.version[vline%pageLines] == l.Version && l.Version != 0
}

// Forgot says whether the thread, which doesn't know the line, would know it if
// it had never been made to forget.
func (k *Knowledge) Forgot(vline uint64, l *Line) bool {
	p := k.page(vline / pageLines)
	return p != nil && p.version[vline%pageLines] == l.Version && l.Version != 0
}

// Learn notes that the thread's stream holds the line's present bytes.
func (k *Knowledge) Learn(vline uint64, l *Line) {
	if l.Version == 0 {
		k.m.version++
		l.Version = k.m.version
	}
	if !k.set(vline, l.Version) {
		return
	}
	if l.flags&flagKnown != 0 {
		l.flags |= flagMany
	}
	l.flags |= flagKnown
}

// Forget makes the thread know nothing, in constant time.
func (k *Knowledge) Forget() {
	k.gen++
	if k.gen == 0 {
		// After 2^32 times an old page could pass for a new one.
		clear(k.table)
		k.used, k.gen = 0, 1
	}
}

// Claim makes the line, which the thread must know under vline, known to
// nobody else, because the thread is about to write it there.
func (m *Machine) Claim(k *Knowledge, vline uint64, l *Line) {
	if l.flags&(flagKnown|flagMany) == flagKnown {
		return
	}
	if !k.Known(vline, l) {
		panic("BUG: hwmodel: a thread claims a line that it doesn't know")
	}
	m.version++
	l.Version = m.version
	k.set(vline, l.Version)
	l.flags = l.flags&^flagMany | flagKnown
}

// SoleKnower says whether at most one knower knows the line.
func (l *Line) SoleKnower() bool { return l.flags&flagMany == 0 }

// Note notes the line's present version without being counted among its
// knowers: for a Knowledge that follows one which is.
func (k *Knowledge) Note(vline uint64, l *Line) { k.set(vline, l.Version) }

// slot returns where the page is in the table, or where it would be put.
func (k *Knowledge) slot(page uint64) int {
	mask := len(k.table) - 1
	i := int(page * 0x9e3779b97f4a7c15 >> k.shift)
	for k.table[i] != nil && k.table[i].page != page {
		i = (i + 1) & mask
	}
	return i
}

func (k *Knowledge) page(page uint64) *known { return k.table[k.slot(page)] }

// set notes a version and returns whether that is news.
func (k *Knowledge) set(vline, version uint64) bool {
	page := vline / pageLines
	i := k.slot(page)
	p := k.table[i]
	if p == nil {
		if k.used >= len(k.table)*3/4 {
			k.grow()
			i = k.slot(page)
		}
		p = &known{page: page, gen: k.gen}
		k.table[i] = p
		k.used++
	}
	if p.gen != k.gen {
		p.gen, p.now = k.gen, 0
	}
	v, bit := &p.version[vline%pageLines], uint64(1)<<(vline%pageLines)
	if p.now&bit != 0 && *v == version {
		return false
	}
	*v = version
	p.now |= bit
	return true
}

func (k *Knowledge) grow() {
	old := k.table
	k.table = make([]*known, 2*len(old))
	k.shift--
	for _, p := range old {
		if p != nil {
			k.table[k.slot(p.page)] = p
		}
	}
}
