package x86

import "slices"

// A FetchSink is told of the code that is about to be executed, a block at a
// time: see BlockCache.WatchFetches.
type FetchSink interface {
	// Fetch is called before the first instruction of a block, or of what is left
	// of it, with the first and the last line (virtual address >> LineShift) of
	// its bytes. It may panic with a *Stop, but not invalidate anything decoded.
	Fetch(c *CPU, first, last uint64)
}

// WatchFetches makes CPUs call their FetchSink for code on the pages (virtual
// address >> 12) for which want says so, which is asked when a block is decoded;
// other code isn't slowed down. It takes effect for what is decoded from now on.
func (bc *BlockCache) WatchFetches(want func(page uint64) bool) { bc.fetches = want }

// watches says whether the code from pc to before end is watched.
func (bc *BlockCache) watches(pc, end uint64) bool {
	end = max(end, pc+1)
	return bc.fetches != nil && (bc.fetches(pc>>pageShift) || bc.fetches((end-1)>>pageShift))
}

// watch puts an Op in front of b, which ends before address end, that calls the
// FetchSink and is no instruction.
func (b *block) watch(end uint64) {
	ops := slices.Insert(slices.Clone(b.ops), 0, Op{
		fn: execFetch, pc: b.pc, imm: int64((max(end, b.pc+1) - 1) >> lineShift), base: RegZero, idx: RegZero, seg: RegZero,
	})
	b.fetch, b.first, b.ops = true, &ops[0], ops[1:]
}

func execFetch(c *CPU, op *Op) {
	if c.Fetches != nil {
		c.Fetches.Fetch(c, op.pc>>lineShift, uint64(op.imm))
	}
}

// fetched tells the FetchSink of one instruction, unless the one before it at pc
// was on the same line.
func (c *CPU) fetched(op *Op, before uint64) {
	first, last := op.pc>>lineShift, (op.pc+uint64(op.len)-1)>>lineShift
	if c.Fetches != nil && (before == 0 || first != before>>lineShift || last != first) {
		c.Fetches.Fetch(c, first, last)
	}
}
