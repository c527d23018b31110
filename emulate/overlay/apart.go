package overlay

// Two sections of one thread may have had the same part of its stack, one after
// the other: strands that a scheduler within the program executed, such as
// OpenMP's tasks. Executed together, each needs one of its own.

// apartBit marks the addresses of such memory; those that Config.Canon gives
// have the highest bit.
const (
	apartBit  = 1 << 58
	apartSide = 1 << 57
)

// stackDepth is how far below an address a stack may reach, in bytes.
const stackDepth = 8 << 20

// Apart gives participant part the stack below an address, as far as its line, for itself.
func (r *Run) Apart(part int, below uint64) { r.parts[part].apart = below }

// ApartAddr returns the address that stands for the stack's at addr if a
// participant has what is below an address for itself.
func ApartAddr(part int, below, addr uint64) uint64 {
	if end := (below + 63) &^ 63; below == 0 || addr >= end || end-addr > stackDepth {
		return addr
	}
	return addr | apartBit | uint64(part)*apartSide
}

// IsApart says whether an address stands for such memory.
func IsApart(addr uint64) bool { return addr>>58 == 1 }

// canonAddr returns the address that all mappings of the same memory share.
func (p *participant) canonAddr(addr uint64) uint64 {
	if p.apart != 0 {
		side := 0
		if p.run.parts[0] != p {
			side = 1
		}
		if a := ApartAddr(side, p.apart, addr); a != addr {
			return a
		}
	}
	return p.run.canonAddr(addr)
}

// canon is canonAddr for the numbers of lines.
func (p *participant) canon(line uint64) uint64 {
	if p.apart == 0 && p.run.alias == nil {
		return line
	}
	return p.canonAddr(line<<6) >> 6
}

func (p *participant) isRacy(addr uint64, size int) bool {
	return overlaps(p.run.racy, p.canonAddr(addr), size)
}

func (p *participant) tracked(addr uint64, size int) bool {
	return overlaps(p.run.track, p.canonAddr(addr), size)
}
