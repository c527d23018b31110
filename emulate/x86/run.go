package x86

const codeCall = 0

type runState struct {
	addr uint64
}

type BlockCache struct{}

// Pending is the store half of a read-modify-write instruction of which the
// load half has been executed (see RunSplit). Size 0: there is none.
type Pending struct {
	Value uint64 // what the load half read, zero-extended
	Size  uint8  // bytes
}
