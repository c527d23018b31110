package linux

// A pte says which frame a virtual page shows and what may be done with it.
// A page without a frame may still be mapped: its frame comes at the first touch.
type pte struct {
	f    *Frame
	prot uint8 // PROT_*, as of the region that holds the page
}

// The page table is a radix tree over the 35 bits of a page number of the
// lower half of the address space.
const (
	leafBits = 11
	midBits  = 12
	rootBits = 12
)

type (
	leafTable [1 << leafBits]pte
	midTable  [1 << midBits]*leafTable
	pageTable [1 << rootBits]*midTable
)

// maxPage is the first page number that user memory can't have (the last page
// of the lower half is a guard on Linux, too).
const maxPage = 0x7ffffffff

// look returns the entry of page, or nil if nothing near it was ever touched.
func (t *pageTable) look(page uint64) *pte {
	if page >= maxPage {
		return nil
	}
	m := t[page>>(leafBits+midBits)]
	if m == nil {
		return nil
	}
	l := m[page>>leafBits&(1<<midBits-1)]
	if l == nil {
		return nil
	}
	return &l[page&(1<<leafBits-1)]
}

// entry returns the entry of page, making tables as needed. page < maxPage.
func (t *pageTable) entry(page uint64) *pte {
	m := t[page>>(leafBits+midBits)]
	if m == nil {
		m = new(midTable)
		t[page>>(leafBits+midBits)] = m
	}
	l := m[page>>leafBits&(1<<midBits-1)]
	if l == nil {
		l = new(leafTable)
		m[page>>leafBits&(1<<midBits-1)] = l
	}
	return &l[page&(1<<leafBits-1)]
}

// each calls fn for every page in [from, to) that has a frame, in ascending
// order, skipping tables that don't exist.
func (t *pageTable) each(from, to uint64, fn func(page uint64, e *pte)) {
	if to > maxPage {
		to = maxPage
	}
	for page := from; page < to; {
		m := t[page>>(leafBits+midBits)]
		if m == nil {
			page = (page>>(leafBits+midBits) + 1) << (leafBits + midBits)
			continue
		}
		l := m[page>>leafBits&(1<<midBits-1)]
		end := min((page>>leafBits+1)<<leafBits, to)
		if l == nil {
			page = end
			continue
		}
		for ; page < end; page++ {
			if e := &l[page&(1<<leafBits-1)]; e.f != nil {
				fn(page, e)
			}
		}
	}
}
