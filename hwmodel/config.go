package hwmodel

import "fmt"

// MaxCores is the highest number of cores, and of processing units, MaxThreads
// that of processing units of a core.
const (
	MaxCores   = 64
	MaxThreads = 8
)

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

func (g Geometry) String() string {
	if g.Size%1024 != 0 {
		return fmt.Sprintf("%d/%d", g.Size, g.Ways)
	}
	return fmt.Sprintf("%dK/%d", g.Size>>10, g.Ways)
}

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
	Cores    int // 1 to MaxCores
	Threads  int // processing units of each core, 1 (also 0) to MaxThreads; of all, at most MaxCores
	L1       Geometry
	L1I      Geometry // first-level cache for code; the zero value: what is executed isn't modelled
	L2       Geometry // second level of each core; the zero value: none
	LLC      Geometry
	Protocol *Protocol // nil: MESI
	TLB      TLB       // of each unit; without a size there are none, or, with IDs, DefaultTLB

	// L2Exclusive says that the second level doesn't have what the first-level
	// data cache has; otherwise it has all of both first levels.
	L2Exclusive bool

	Accounting Accounting
	Prefetch   int // lines that a miss in an L1 brings in beside its own, in the same page
}

// Units is the number of processing units. Unit u is a hardware thread of core u
// modulo Cores, so that threads spread over the cores first.
func (c Config) Units() int { return c.Cores * max(c.Threads, 1) }

// outermost is the geometry of the private cache for data that is farthest from
// the units.
func (c *Config) outermost() *Geometry {
	if c.L2.Ways > 0 {
		return &c.L2
	}
	return &c.L1
}

// DefaultConfig returns a machine of that many cores, with a private cache of
// 256 KiB for each (today's first and part of the second level) and 16 MiB for
// all.
func DefaultConfig(cores int) Config {
	return Config{Cores: cores, L1: Geometry{256 << 10, 8}, LLC: Geometry{16 << 20, 16}, Protocol: MESI}
}

// SmallL1 is the geometry of a first-level cache that has a second one behind it.
var SmallL1 = Geometry{32 << 10, 8}

// Check says what is wrong with the configuration.
func (c Config) Check() error {
	if c.Cores < 1 || c.Cores > MaxCores {
		return fmt.Errorf("hwmodel: %d cores, expected 1 to %d", c.Cores, MaxCores)
	}
	if c.Threads < 0 || c.Threads > MaxThreads {
		return fmt.Errorf("hwmodel: %d hardware threads of a core, expected 1 to %d", c.Threads, MaxThreads)
	}
	if c.Units() > MaxCores {
		return fmt.Errorf("hwmodel: %d cores with %d hardware threads each: at most %d processing units are possible", c.Cores, c.Threads, MaxCores)
	}
	if err := c.L1.check("L1"); err != nil {
		return err
	}
	if c.L1I != (Geometry{}) {
		if err := c.L1I.check("L1 code"); err != nil {
			return err
		}
	}
	if c.L2 != (Geometry{}) {
		if err := c.L2.check("L2"); err != nil {
			return err
		}
		if n := c.L1.Size; !c.L2Exclusive && n > c.L2.Size {
			return fmt.Errorf("hwmodel: the L2 cache of %d bytes has to hold what the first level for data does, %d bytes: make it larger, or exclusive", c.L2.Size, n)
		}
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
	if c.HasTLB() {
		if err := c.tlb().check(); err != nil {
			return err
		}
	}
	return c.protocol().check()
}

func (c Config) protocol() *Protocol {
	if c.Protocol == nil {
		return MESI
	}
	return c.Protocol
}

func (c Config) tlb() TLB {
	t := c.TLB
	if t.Entries == 0 && t.Ways == 0 && t.IDs != TLBUnnamed {
		t.Entries, t.Ways = DefaultTLB.Entries, DefaultTLB.Ways
	}
	return t
}

// HasTLB says whether units have TLBs.
func (c Config) HasTLB() bool { return c.tlb() != TLB{} }

// String returns the geometry in words, as a trace's header keeps it.
func (c Config) String() string {
	s := fmt.Sprintf("cores=%d line=%d l1=%v llc=%v protocol=%s", c.Cores, LineSize, c.L1, c.LLC, c.protocol().Name)
	if c.Threads > 1 {
		s += fmt.Sprintf(" threads-per-core=%d", c.Threads)
	}
	if c.L1I != (Geometry{}) {
		s += fmt.Sprintf(" l1i=%v", c.L1I)
	}
	if c.L2 != (Geometry{}) {
		s += fmt.Sprintf(" l2=%v", c.L2)
		if c.L2Exclusive {
			s += ":exclusive"
		}
	}
	if c.Accounting.Kind != AccountThreads {
		s += fmt.Sprintf(" accounting=%v", c.Accounting)
	}
	if t := c.tlb(); c.HasTLB() {
		s += fmt.Sprintf(" tlb=%v addresses=%v", t, t.IDs)
	}
	if c.Prefetch > 0 {
		s += fmt.Sprintf(" prefetch=%d", c.Prefetch)
	}
	return s
}
