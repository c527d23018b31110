package hwmodel

import "fmt"

// MaxCores is the highest number of processing units.
const MaxCores = 64

// MaxPrefetch is the highest number of lines that a miss brings in beside its own.
const MaxPrefetch = 8

// maxWays bounds the associativity: a set's bookkeeping is one word.
const maxWays = 64

// A Geometry says how big a cache is. Its sets, Size/(Ways*LineSize), must be
// a power of two.
type Geometry struct {
	Size int // bytes
	Ways int // 1 to 64
}

func (g Geometry) sets() int { return g.Size / (g.Ways * LineSize) }

func (g Geometry) String() string { return fmt.Sprintf("%dK/%d", g.Size>>10, g.Ways) }

func (g Geometry) check(name string) error {
	if g.Ways < 1 || g.Ways > maxWays {
		return fmt.Errorf("hwmodel: %s cache of %d ways, expected 1 to %d", name, g.Ways, maxWays)
	}
	n := g.sets()
	if n < 1 || n&(n-1) != 0 || n*g.Ways*LineSize != g.Size || g.Size > 1<<30 {
		return fmt.Errorf("hwmodel: %s cache of %d bytes in %d ways: the number of sets, bytes / (ways × %d), must be a power of two, and the size at most 1 GiB", name, g.Size, g.Ways, LineSize)
	}
	return nil
}

// A Config says what a Machine is made of.
type Config struct {
	Cores    int // processing units, 1 to MaxCores
	L1       Geometry
	LLC      Geometry
	Protocol *Protocol // nil: MESI

	Accounting Accounting
	Prefetch   int // lines that a miss in an L1 brings in beside its own, in the same page
}

// DefaultConfig returns a machine of that many units, with a private cache of
// 256 KiB for each (today's first and part of the second level) and 16 MiB for
// all.
func DefaultConfig(cores int) Config {
	return Config{Cores: cores, L1: Geometry{256 << 10, 8}, LLC: Geometry{16 << 20, 16}, Protocol: MESI}
}

// Check says what is wrong with the configuration.
func (c Config) Check() error {
	if c.Cores < 1 || c.Cores > MaxCores {
		return fmt.Errorf("hwmodel: %d processing units, expected 1 to %d", c.Cores, MaxCores)
	}
	if err := c.L1.check("L1"); err != nil {
		return err
	}
	if err := c.LLC.check("last-level"); err != nil {
		return err
	}
	if c.Prefetch < 0 || c.Prefetch > MaxPrefetch {
		return fmt.Errorf("hwmodel: prefetch of %d lines, expected 0 to %d", c.Prefetch, MaxPrefetch)
	}
	if err := c.checkAccounting(); err != nil {
		return err
	}
	return c.protocol().check()
}

func (c Config) protocol() *Protocol {
	if c.Protocol == nil {
		return MESI
	}
	return c.Protocol
}

// String returns the geometry in words, as a trace's header keeps it.
func (c Config) String() string {
	s := fmt.Sprintf("cores=%d line=%d l1=%v llc=%v protocol=%s", c.Cores, LineSize, c.L1, c.LLC, c.protocol().Name)
	if c.Accounting.Kind != AccountThreads {
		s += fmt.Sprintf(" accounting=%v", c.Accounting)
	}
	if c.Prefetch > 0 {
		s += fmt.Sprintf(" prefetch=%d", c.Prefetch)
	}
	return s
}
