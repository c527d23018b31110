package x86

import (
	"errors"
	"fmt"
)

// runState is what the run loop keeps beside the architectural state.
type runState struct {
	addr  uint64 // address of the access that Mem was last asked for
	iters uint64 // see exec_string.go
	broke uint64 // Count+1 at the last StopBreak, which isn't repeated
	in    bool   // inside Run
}

// Run executes exactly limit instructions unless it stops earlier. A pending
// store half (see RunSplit) is done first and counts as its instruction.
func (c *CPU) Run(limit uint64) Stop {
	end := c.Count + limit
	if end < c.Count {
		end = ^uint64(0)
	}
	for {
		s := c.guard(func() Stop {
			if c.pend.Size != 0 && c.Count < end {
				if s := c.steps1(end); s.Kind != StopLimit {
					return s
				}
			}
			if c.trap || c.flags&TF != 0 {
				return c.single(end)
			}
			return c.loop(end)
		})
		if s.Kind != stopTrace {
			return s
		}
	}
}

// stopTrace ends the run loop because the trap flag was set.
const stopTrace StopKind = 255

// CodeTrace is the Code of a fault with VecDB that is the trap flag's: the bit BS
// of DR6 (SDM volume 3, 17.2.3).
const CodeTrace = 1 << 14

// single executes instruction by instruction while the trap flag is set. The trap
// after an instruction is a fault before the next one (SDM volume 3, 17.3.1.4).
// A repeated string instruction traps once, at its end.
func (c *CPU) single(end uint64) Stop {
	for c.base < end {
		if c.trap {
			c.trap = false
			return Stop{Kind: StopFault, Vector: VecDB, Code: CodeTrace}
		}
		if c.flags&TF == 0 {
			return c.loop(end)
		}
		if c.Blocks.breaks[c.RIP] && c.run.broke != c.base+1 {
			c.run.broke = c.base + 1
			return Stop{Kind: StopBreak}
		}
		c.trap = true
		c.steps1(end)
	}
	return Stop{Kind: StopLimit}
}

// guard calls f, which executes instructions, and turns what ends one of them
// into f's result. It brings Count and RIP up to date.
func (c *CPU) guard(f func() Stop) (s Stop) {
	if c.Win == nil || c.Blocks == nil {
		panic("BUG: x86: CPU without a window or a block cache")
	}
	c.base = c.Count
	c.run.in = true
	defer func() {
		c.run.in = false
		if r := recover(); r != nil {
			p, ok := r.(*Stop)
			if !ok {
				panic(r)
			}
			s = c.stopped(p)
		}
		c.Count = c.base
		c.cur = nil
		c.atomi = false
	}()
	return f()
}

// stopped sets the state to where the running instruction was ended by p.
func (c *CPU) stopped(p *Stop) Stop {
	if c.cur != nil {
		c.base += uint64(c.cur.n)
		c.RIP = c.cur.pc
	}
	s := *p
	c.settle(s.Kind == StopFault)
	if s.Kind == StopFault {
		c.pend = Pending{} // the instruction starts over after the fault
	}
	if s.Kind != stopTrace {
		c.trap = false // it wasn't executed; a system call's return doesn't trap (SYSRET)
	}
	if s.Kind == StopFault && s.Vector == VecPF && c.run.addr>>lineShift == s.Addr>>lineShift && c.cur != nil {
		s.Addr = c.run.addr // Mem knows only the line
	}
	return s
}

// steps executes b instruction by instruction until end, which lies in b or is
// its end.
func (c *CPU) steps(b *block, end uint64) Stop {
	start, before := c.base, uint64(0)
	for i := range b.ops[:b.n] {
		if c.base >= end {
			break
		}
		op := &b.ops[i]
		c.base = start // c.cur counts from there
		c.cur = op
		if b.fetch {
			c.fetched(op, before)
			before = op.pc
		}
		op.fn(c, op)
		c.base = start + uint64(i) + 1
		c.cur = nil
		if op.attr&attrEnd == 0 {
			c.RIP = op.next()
		}
		if b.dead && c.base < end {
			return c.loop(end)
		}
	}
	return Stop{Kind: StopLimit}
}

// steps1 executes one instruction outside of any block.
func (c *CPU) steps1(end uint64) Stop {
	op, _ := c.decodeAt(c.RIP)
	c.cur = &op
	if c.Blocks.watches(op.pc, op.next()) {
		c.fetched(&op, 0)
	}
	op.fn(c, &op)
	c.pend = Pending{}
	if op.attr&attrEnd == 0 {
		c.RIP = op.next()
	}
	c.base++
	c.cur = nil
	return Stop{Kind: StopLimit}
}

// decodeAt decodes the one instruction at pc. It panics with a *Stop if there
// are no bytes.
func (c *CPU) decodeAt(pc uint64) (Op, *form) {
	code := c.fetch(pc)
	if len(code) == 0 {
		panic(fetchFault(pc))
	}
	op, f, ok := decodeOp(code, pc)
	if !ok {
		panic(fetchFault(pc + uint64(len(code))))
	}
	return op, f
}

// InstrCount returns the number of instructions executed before the current
// one. Unlike Count it is exact inside Run, when Memory, Env, Watcher or
// CallSink are called.
func (c *CPU) InstrCount() uint64 {
	if c.cur == nil {
		if c.run.in {
			return c.base
		}
		return c.Count
	}
	return c.base + uint64(c.cur.n)
}

// PC returns the address of the current instruction; see InstrCount.
func (c *CPU) PC() uint64 {
	if c.cur == nil {
		return c.RIP
	}
	return c.cur.pc
}

// AccessAddr returns the address of the access that Memory.Line is being asked
// for.
func (c *CPU) AccessAddr() uint64 { return c.run.addr }

// Pending is the store half of a read-modify-write instruction of which the
// load half has been executed (see RunSplit). Size 0: there is none.
type Pending struct {
	Value uint64 // what the load half read, zero-extended
	Size  uint8  // bytes
}

// Pending returns the pending store half.
func (c *CPU) Pending() Pending { return c.pend }

// CanSplit says whether the instruction at RIP (inside Run: the current one) is
// an unlocked read-modify-write of memory, whose halves other threads may come
// between.
func (c *CPU) CanSplit() bool {
	if c.pend.Size != 0 {
		return false
	}
	op, _ := c.peek()
	return op != nil && op.attr&attrRMW != 0
}

// peek returns the current instruction, without executing or changing
// anything; nil if there is none.
func (c *CPU) peek() (op *Op, f *form) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(*Stop); !ok {
				panic(r)
			}
			op, f = nil, nil
		}
	}()
	o, f := c.decodeAt(c.PC())
	return &o, f
}

// RunSplit executes the load half of the instruction at RIP, for which
// CanSplit holds, and keeps the rest for the next Run or FinishSplit. Count and
// RIP don't move. It stops with StopLimit, or otherwise if the load does.
func (c *CPU) RunSplit() Stop {
	return c.guard(func() Stop {
		op, f := c.decodeAt(c.RIP)
		if op.attr&attrRMW == 0 || c.pend.Size != 0 {
			panic(fmt.Sprintf("BUG: x86: split of an instruction that can't be at %#x", c.RIP))
		}
		c.cur = &op
		if c.Blocks.watches(op.pc, op.next()) {
			c.fetched(&op, 0)
		}
		a := c.ea(&op)
		if f.regKind >= 0 && bitOffsets[f.mnem] {
			a = c.bitAddr(&op)
		}
		c.pend = Pending{c.ldUpdate(&op, a, op.size), op.size}
		c.cur = nil
		return Stop{Kind: StopLimit}
	})
}

// FinishSplit executes the pending store half, which completes the instruction.
// Nothing happens if there is none.
func (c *CPU) FinishSplit() Stop {
	if c.pend.Size == 0 {
		return Stop{Kind: StopLimit}
	}
	return c.Run(1)
}

var errIterations = errors.New("the iterations asked for are done")

// RunRep executes at most k (at least one) iterations of the repeated string
// instruction at RIP. done says whether that completed the instruction; then
// Count and RIP have moved. Any other instruction is executed as a whole.
func (c *CPU) RunRep(k uint64) (s Stop, done bool) {
	c.run.iters = k + 1
	s = c.Run(1)
	c.run.iters = 0
	if s.Kind == StopYield && s.Err == errIterations {
		return Stop{Kind: StopLimit}, false
	}
	return s, s.Kind == StopLimit
}

// IsRep says whether the instruction at RIP (inside Run: the current one) is a
// repeated string instruction.
func (c *CPU) IsRep() bool {
	op, f := c.peek()
	return f != nil && op.attr&(attrRep|attrRepne) != 0 && stringInst[f.mnem]
}

var stringInst = map[string]bool{"movs": true, "stos": true, "lods": true, "cmps": true, "scas": true}

// missLoadX and missStoreX are missLoad and missStore for 16 bytes.
func (c *CPU) missLoadX(op *Op, a uint64) [2]uint64 {
	lo := c.ld64(op, a)
	return [2]uint64{lo, c.ld64(op, a+8)}
}

func (c *CPU) missStoreX(op *Op, a uint64, v [2]uint64) { c.stX(op, a, v) }
