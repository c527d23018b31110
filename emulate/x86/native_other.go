//go:build !linux || !amd64

package x86

// On other hosts nothing is translated.

type arena struct{}

var hotBlock uint32 = 1 << 31

const (
	wayLimit = -1
	wayNext  = -2
)

func (bc *BlockCache) translate(*CPU, *block)   {}
func (bc *BlockCache) join(*block, int, *block) {}
func (bc *BlockCache) part(*block, int)         {}
func (b *block) resumeAfter(*Op) uintptr        { return 0 }
func (b *block) op(k int) *Op                   { return &b.ops[k] }

func (c *CPU) enter(uintptr, uint64, uint64) (*block, int) {
	panic("BUG: x86: there is no translated code here")
}
