package detect

// What a pass may keep is shared between what grows with the recording. The
// rest is the log (at most 256 MiB, see eventLog), the tables of lines (about
// 200 MiB), the memory of the guest as each of its threads sees it, and what the
// garbage collector has not collected yet.
const (
	predictShare = 4 // a fourth
	shadowShare  = 4
	markShare    = 8
)

const defaultMemory = 4 << 30

func (p *Pass) memory() int64 {
	if p.Memory > 0 {
		return p.Memory
	}
	return defaultMemory
}
