package x86

import (
	"math/bits"
	"unsafe"
)

// What the run loop does for an Op. The letters after the name are the shape:
// R register, M memory, I immediate, destination first; B an address of base
// and displacement alone, X any; F sets flags (without, they are dead); J is
// fused with the conditional jump that follows. codeCall calls Op.fn.
const (
	codeCall = iota
	codeNop
	codeMov32
	codeMov64
	codeMovI
	codeMovIrm
	codeLd8B
	codeLd8X
	codeLd16B
	codeLd16X
	codeLd32B
	codeLd32X
	codeLd64B
	codeLd64X
	codeLd8s32
	codeLd8s64
	codeLd16s32
	codeLd16s64
	codeLd32s64
	codeLd8m
	codeSt8B
	codeSt8X
	codeStI8
	codeSt16B
	codeSt16X
	codeStI16
	codeSt32B
	codeSt32X
	codeStI32
	codeSt64B
	codeSt64X
	codeStI64
	codeZx8
	codeZx16
	codeSx8to32
	codeSx8to64
	codeSx16to32
	codeSx16to64
	codeSx32to64
	codeCdq
	codeCqo
	codeLea64B
	codeLea64X
	codeLea32
	codeZero
	codeZeroF
	codeAdd32RR
	codeAdd32RI
	codeAdd32RRF
	codeAdd32RIF
	codeAdd32RM
	codeAdd32MR
	codeAdd32MI
	codeAdd64RR
	codeAdd64RI
	codeAdd64RRF
	codeAdd64RIF
	codeAdd64RM
	codeAdd64MR
	codeAdd64MI
	codeSub32RR
	codeSub32RI
	codeSub32RRF
	codeSub32RIF
	codeSub32RM
	codeSub32MR
	codeSub32MI
	codeSub64RR
	codeSub64RI
	codeSub64RRF
	codeSub64RIF
	codeSub64RM
	codeSub64MR
	codeSub64MI
	codeAnd32RR
	codeAnd32RI
	codeAnd32RRF
	codeAnd32RIF
	codeAnd32RM
	codeAnd32MR
	codeAnd32MI
	codeAnd64RR
	codeAnd64RI
	codeAnd64RRF
	codeAnd64RIF
	codeAnd64RM
	codeAnd64MR
	codeAnd64MI
	codeOr32RR
	codeOr32RI
	codeOr32RRF
	codeOr32RIF
	codeOr32RM
	codeOr32MR
	codeOr32MI
	codeOr64RR
	codeOr64RI
	codeOr64RRF
	codeOr64RIF
	codeOr64RM
	codeOr64MR
	codeOr64MI
	codeXor32RR
	codeXor32RI
	codeXor32RRF
	codeXor32RIF
	codeXor32RM
	codeXor32MR
	codeXor32MI
	codeXor64RR
	codeXor64RI
	codeXor64RRF
	codeXor64RIF
	codeXor64RM
	codeXor64MR
	codeXor64MI
	codeCmp8RR
	codeCmp8RRJ
	codeCmp8RI
	codeCmp8RIJ
	codeCmp8RM
	codeCmp8RMJ
	codeCmp8MR
	codeCmp8MRJ
	codeCmp8MI
	codeCmp8MIJ
	codeTest8RR
	codeTest8RRJ
	codeTest8RI
	codeTest8RIJ
	codeTest8MI
	codeTest8MIJ
	codeCmp32RR
	codeCmp32RRJ
	codeCmp32RI
	codeCmp32RIJ
	codeCmp32RM
	codeCmp32RMJ
	codeCmp32MR
	codeCmp32MRJ
	codeCmp32MI
	codeCmp32MIJ
	codeTest32RR
	codeTest32RRJ
	codeTest32RI
	codeTest32RIJ
	codeTest32MI
	codeTest32MIJ
	codeCmp64RR
	codeCmp64RRJ
	codeCmp64RI
	codeCmp64RIJ
	codeCmp64RM
	codeCmp64RMJ
	codeCmp64MR
	codeCmp64MRJ
	codeCmp64MI
	codeCmp64MIJ
	codeTest64RR
	codeTest64RRJ
	codeTest64RI
	codeTest64RIJ
	codeTest64MI
	codeTest64MIJ
	codeSub32RRJ
	codeAdd32RRJ
	codeAnd32RRJ
	codeSub32RIJ
	codeAdd32RIJ
	codeAnd32RIJ
	codeInc32J
	codeDec32J
	codeIncF32
	codeDecF32
	codeShl32I
	codeShr32I
	codeSar32I
	codeShl32CL
	codeShr32CL
	codeSar32CL
	codeShl32IF
	codeShr32IF
	codeSar32IF
	codeRol32I
	codeNeg32
	codeNot32
	codeImul32RR
	codeImul32RRI
	codeCmov32
	codeCmovM32
	codeAdc32RR
	codeSbb32RR
	codeBsf32
	codeBsr32
	codeBswap32
	codeSub64RRJ
	codeAdd64RRJ
	codeAnd64RRJ
	codeSub64RIJ
	codeAdd64RIJ
	codeAnd64RIJ
	codeInc64J
	codeDec64J
	codeIncF64
	codeDecF64
	codeShl64I
	codeShr64I
	codeSar64I
	codeShl64CL
	codeShr64CL
	codeSar64CL
	codeShl64IF
	codeShr64IF
	codeSar64IF
	codeRol64I
	codeNeg64
	codeNot64
	codeImul64RR
	codeImul64RRI
	codeCmov64
	codeCmovM64
	codeAdc64RR
	codeSbb64RR
	codeBsf64
	codeBsr64
	codeBswap64
	codeMul64
	codeMov8
	codeSet
	codePush
	codePushI
	codePop
	codeLdX
	codeStX
	codeLdXa
	codeStXa
	codeMovX
	codeLdXq
	codeLdXd
	codeStXq
	codeStXd
	codeNext
	codeJmp
	codeJcc
	codeCallRel
	codeRet
	codeJmpR
	codeJmpM
	codeCallEnd
)

// loop executes blocks from c.RIP until c.base reaches end. It returns why it
// stopped; faults and the like come as panics. Op.pc and Op.n of c.cur, when it
// is set, and c.base say where.
//
// The cases of the switch differ only in size and shape; each looks into the
// window itself, because a call would cost more than the instruction.
func (c *CPU) loop(end uint64) Stop {
	var b *block
	var op *Op
	var k int
	var l, r uint64
enter:
	c.cur = nil
	if c.base >= end {
		return Stop{Kind: StopLimit}
	}
	b = c.Blocks.get(c, c.RIP)
	if b.brk && c.run.broke != c.base+1 {
		c.run.broke = c.base + 1
		return Stop{Kind: StopBreak}
	}
run:
	if c.base+b.n > end {
		c.RIP = b.pc
		return c.steps(b, end)
	}
	op = b.first
	for {
		switch op.code {
		case codeNop:
			op = nextOp(op)
			continue
		case codeMov32:
			c.R[op.dst&31] = uint64(uint32(c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeMov64:
			c.R[op.dst&31] = c.R[op.src&31]
			op = nextOp(op)
			continue
		case codeMovI:
			c.R[op.dst&31] = uint64(op.imm)
			op = nextOp(op)
			continue
		case codeMovIrm:
			c.R[op.src&31] = uint64(op.imm)
			op = nextOp(op)
			continue
		case codeLd8B:
			a := c.R[op.base&31] + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == a>>lineShift {
				v = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 1, Read)
			}
			c.R[op.dst&31] = v
			op = nextOp(op)
			continue
		case codeLd8X:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == a>>lineShift {
				v = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 1, Read)
			}
			c.R[op.dst&31] = v
			op = nextOp(op)
			continue
		case codeLd16B:
			a := c.R[op.base&31] + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+1)>>lineShift {
				v = uint64(*(*uint16)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 2, Read)
			}
			c.R[op.dst&31] = v
			op = nextOp(op)
			continue
		case codeLd16X:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+1)>>lineShift {
				v = uint64(*(*uint16)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 2, Read)
			}
			c.R[op.dst&31] = v
			op = nextOp(op)
			continue
		case codeLd32B:
			a := c.R[op.base&31] + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				v = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 4, Read)
			}
			c.R[op.dst&31] = v
			op = nextOp(op)
			continue
		case codeLd32X:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				v = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 4, Read)
			}
			c.R[op.dst&31] = v
			op = nextOp(op)
			continue
		case codeLd64B:
			a := c.R[op.base&31] + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				v = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 8, Read)
			}
			c.R[op.dst&31] = v
			op = nextOp(op)
			continue
		case codeLd64X:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				v = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 8, Read)
			}
			c.R[op.dst&31] = v
			op = nextOp(op)
			continue
		case codeLd8s32:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == a>>lineShift {
				v = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 1, Read)
			}
			c.R[op.dst&31] = uint64(uint32(int8(v)))
			op = nextOp(op)
			continue
		case codeLd8s64:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == a>>lineShift {
				v = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 1, Read)
			}
			c.R[op.dst&31] = uint64(int8(v))
			op = nextOp(op)
			continue
		case codeLd16s32:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+1)>>lineShift {
				v = uint64(*(*uint16)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 2, Read)
			}
			c.R[op.dst&31] = uint64(uint32(int16(v)))
			op = nextOp(op)
			continue
		case codeLd16s64:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+1)>>lineShift {
				v = uint64(*(*uint16)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 2, Read)
			}
			c.R[op.dst&31] = uint64(int16(v))
			op = nextOp(op)
			continue
		case codeLd32s64:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				v = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 4, Read)
			}
			c.R[op.dst&31] = uint64(int32(v))
			op = nextOp(op)
			continue
		case codeLd8m:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == a>>lineShift {
				v = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 1, Read)
			}
			c.R[op.dst&31] = c.R[op.dst&31]&^0xFF | v
			op = nextOp(op)
			continue
		case codeSt8B:
			a := c.R[op.base&31] + uint64(op.disp)
			if e := c.entry(a); e.W == a>>lineShift {
				*(*uint8)(unsafe.Add(e.P, a&lineMask)) = uint8(c.R[op.dst&31])
			} else {
				c.missStore(op, a, 1, uint64(c.R[op.dst&31]))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeSt8X:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.W == a>>lineShift {
				*(*uint8)(unsafe.Add(e.P, a&lineMask)) = uint8(c.R[op.dst&31])
			} else {
				c.missStore(op, a, 1, uint64(c.R[op.dst&31]))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeStI8:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.W == a>>lineShift {
				*(*uint8)(unsafe.Add(e.P, a&lineMask)) = uint8(op.imm)
			} else {
				c.missStore(op, a, 1, uint64(op.imm))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeSt16B:
			a := c.R[op.base&31] + uint64(op.disp)
			if e := c.entry(a); e.W == (a+1)>>lineShift {
				*(*uint16)(unsafe.Add(e.P, a&lineMask)) = uint16(c.R[op.dst&31])
			} else {
				c.missStore(op, a, 2, uint64(c.R[op.dst&31]))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeSt16X:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.W == (a+1)>>lineShift {
				*(*uint16)(unsafe.Add(e.P, a&lineMask)) = uint16(c.R[op.dst&31])
			} else {
				c.missStore(op, a, 2, uint64(c.R[op.dst&31]))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeStI16:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.W == (a+1)>>lineShift {
				*(*uint16)(unsafe.Add(e.P, a&lineMask)) = uint16(op.imm)
			} else {
				c.missStore(op, a, 2, uint64(op.imm))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeSt32B:
			a := c.R[op.base&31] + uint64(op.disp)
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(c.R[op.dst&31])
			} else {
				c.missStore(op, a, 4, uint64(c.R[op.dst&31]))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeSt32X:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(c.R[op.dst&31])
			} else {
				c.missStore(op, a, 4, uint64(c.R[op.dst&31]))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeStI32:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(op.imm)
			} else {
				c.missStore(op, a, 4, uint64(op.imm))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeSt64B:
			a := c.R[op.base&31] + uint64(op.disp)
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = c.R[op.dst&31]
			} else {
				c.missStore(op, a, 8, uint64(c.R[op.dst&31]))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeSt64X:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = c.R[op.dst&31]
			} else {
				c.missStore(op, a, 8, uint64(c.R[op.dst&31]))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeStI64:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = uint64(op.imm)
			} else {
				c.missStore(op, a, 8, uint64(uint64(op.imm)))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeZx8:
			c.R[op.dst&31] = c.R[op.src&31] & 0xFF
			op = nextOp(op)
			continue
		case codeZx16:
			c.R[op.dst&31] = c.R[op.src&31] & 0xFFFF
			op = nextOp(op)
			continue
		case codeSx8to32:
			c.R[op.dst&31] = uint64(uint32(int8(c.R[op.src&31])))
			op = nextOp(op)
			continue
		case codeSx8to64:
			c.R[op.dst&31] = uint64(int8(c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeSx16to32:
			c.R[op.dst&31] = uint64(uint32(int16(c.R[op.src&31])))
			op = nextOp(op)
			continue
		case codeSx16to64:
			c.R[op.dst&31] = uint64(int16(c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeSx32to64:
			c.R[op.dst&31] = uint64(int32(c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeCdq:
			c.R[RDX] = uint64(uint32(int32(c.R[RAX]) >> 31))
			op = nextOp(op)
			continue
		case codeCqo:
			c.R[RDX] = uint64(int64(c.R[RAX]) >> 63)
			op = nextOp(op)
			continue
		case codeLea64B:
			c.R[op.dst&31] = c.R[op.base&31] + uint64(op.disp)
			op = nextOp(op)
			continue
		case codeLea64X:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			c.R[op.dst&31] = a
			op = nextOp(op)
			continue
		case codeLea32:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			c.R[op.dst&31] = uint64(uint32(a))
			op = nextOp(op)
			continue
		case codeZero:
			c.R[op.dst&31] = 0
			op = nextOp(op)
			continue
		case codeZeroF:
			c.R[op.dst&31] = 0
			c.fop, c.fr = fopLogic|3, 0
			op = nextOp(op)
			continue
		case codeAdd32RR:
			c.R[op.dst&31] = uint64(uint32(c.R[op.dst&31] + c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeAdd32RI:
			c.R[op.src&31] = uint64(uint32(c.R[op.src&31] + uint64(op.imm)))
			op = nextOp(op)
			continue
		case codeAdd32RRF:
			x, y := c.R[op.dst&31], c.R[op.src&31]
			r := x + y
			c.R[op.dst&31] = uint64(uint32(r))
			c.fop, c.fa, c.fb, c.fr = fopAdd|2, x, y, r
			op = nextOp(op)
			continue
		case codeAdd32RIF:
			x, y := c.R[op.src&31], uint64(op.imm)
			r := x + y
			c.R[op.src&31] = uint64(uint32(r))
			c.fop, c.fa, c.fb, c.fr = fopAdd|2, x, y, r
			op = nextOp(op)
			continue
		case codeAdd32RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				y = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 4, Read)
			}
			x := c.R[op.dst&31]
			r := x + y
			c.R[op.dst&31] = uint64(uint32(r))
			c.fop, c.fa, c.fb, c.fr = fopAdd|2, x, y, r
			op = nextOp(op)
			continue
		case codeAdd32MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Update)
			}
			y := c.R[op.dst&31]
			r := x + y
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(r)
			} else {
				c.missStore(op, a, 4, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fa, c.fb, c.fr = fopAdd|2, x, y, r
			op = nextOp(op)
			continue
		case codeAdd32MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Update)
			}
			y := uint64(op.imm)
			r := x + y
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(r)
			} else {
				c.missStore(op, a, 4, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fa, c.fb, c.fr = fopAdd|2, x, y, r
			op = nextOp(op)
			continue
		case codeAdd64RR:
			c.R[op.dst&31] = c.R[op.dst&31] + c.R[op.src&31]
			op = nextOp(op)
			continue
		case codeAdd64RI:
			c.R[op.src&31] = c.R[op.src&31] + uint64(op.imm)
			op = nextOp(op)
			continue
		case codeAdd64RRF:
			x, y := c.R[op.dst&31], c.R[op.src&31]
			r := x + y
			c.R[op.dst&31] = r
			c.fop, c.fa, c.fb, c.fr = fopAdd|3, x, y, r
			op = nextOp(op)
			continue
		case codeAdd64RIF:
			x, y := c.R[op.src&31], uint64(op.imm)
			r := x + y
			c.R[op.src&31] = r
			c.fop, c.fa, c.fb, c.fr = fopAdd|3, x, y, r
			op = nextOp(op)
			continue
		case codeAdd64RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				y = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 8, Read)
			}
			x := c.R[op.dst&31]
			r := x + y
			c.R[op.dst&31] = r
			c.fop, c.fa, c.fb, c.fr = fopAdd|3, x, y, r
			op = nextOp(op)
			continue
		case codeAdd64MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Update)
			}
			y := c.R[op.dst&31]
			r := x + y
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = r
			} else {
				c.missStore(op, a, 8, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fa, c.fb, c.fr = fopAdd|3, x, y, r
			op = nextOp(op)
			continue
		case codeAdd64MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Update)
			}
			y := uint64(op.imm)
			r := x + y
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = r
			} else {
				c.missStore(op, a, 8, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fa, c.fb, c.fr = fopAdd|3, x, y, r
			op = nextOp(op)
			continue
		case codeSub32RR:
			c.R[op.dst&31] = uint64(uint32(c.R[op.dst&31] - c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeSub32RI:
			c.R[op.src&31] = uint64(uint32(c.R[op.src&31] - uint64(op.imm)))
			op = nextOp(op)
			continue
		case codeSub32RRF:
			x, y := c.R[op.dst&31], c.R[op.src&31]
			r := x - y
			c.R[op.dst&31] = uint64(uint32(r))
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, r
			op = nextOp(op)
			continue
		case codeSub32RIF:
			x, y := c.R[op.src&31], uint64(op.imm)
			r := x - y
			c.R[op.src&31] = uint64(uint32(r))
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, r
			op = nextOp(op)
			continue
		case codeSub32RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				y = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 4, Read)
			}
			x := c.R[op.dst&31]
			r := x - y
			c.R[op.dst&31] = uint64(uint32(r))
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, r
			op = nextOp(op)
			continue
		case codeSub32MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Update)
			}
			y := c.R[op.dst&31]
			r := x - y
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(r)
			} else {
				c.missStore(op, a, 4, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, r
			op = nextOp(op)
			continue
		case codeSub32MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Update)
			}
			y := uint64(op.imm)
			r := x - y
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(r)
			} else {
				c.missStore(op, a, 4, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, r
			op = nextOp(op)
			continue
		case codeSub64RR:
			c.R[op.dst&31] = c.R[op.dst&31] - c.R[op.src&31]
			op = nextOp(op)
			continue
		case codeSub64RI:
			c.R[op.src&31] = c.R[op.src&31] - uint64(op.imm)
			op = nextOp(op)
			continue
		case codeSub64RRF:
			x, y := c.R[op.dst&31], c.R[op.src&31]
			r := x - y
			c.R[op.dst&31] = r
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, r
			op = nextOp(op)
			continue
		case codeSub64RIF:
			x, y := c.R[op.src&31], uint64(op.imm)
			r := x - y
			c.R[op.src&31] = r
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, r
			op = nextOp(op)
			continue
		case codeSub64RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				y = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 8, Read)
			}
			x := c.R[op.dst&31]
			r := x - y
			c.R[op.dst&31] = r
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, r
			op = nextOp(op)
			continue
		case codeSub64MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Update)
			}
			y := c.R[op.dst&31]
			r := x - y
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = r
			} else {
				c.missStore(op, a, 8, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, r
			op = nextOp(op)
			continue
		case codeSub64MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Update)
			}
			y := uint64(op.imm)
			r := x - y
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = r
			} else {
				c.missStore(op, a, 8, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, r
			op = nextOp(op)
			continue
		case codeAnd32RR:
			c.R[op.dst&31] = uint64(uint32(c.R[op.dst&31] & c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeAnd32RI:
			c.R[op.src&31] = uint64(uint32(c.R[op.src&31] & uint64(op.imm)))
			op = nextOp(op)
			continue
		case codeAnd32RRF:
			r := uint64(uint32(c.R[op.dst&31] & c.R[op.src&31]))
			c.R[op.dst&31] = r
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeAnd32RIF:
			r := uint64(uint32(c.R[op.src&31] & uint64(op.imm)))
			c.R[op.src&31] = r
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeAnd32RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				y = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 4, Read)
			}
			x := c.R[op.dst&31]
			r := x & y
			c.R[op.dst&31] = uint64(uint32(r))
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeAnd32MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Update)
			}
			y := c.R[op.dst&31]
			r := x & y
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(r)
			} else {
				c.missStore(op, a, 4, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeAnd32MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Update)
			}
			y := uint64(op.imm)
			r := x & y
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(r)
			} else {
				c.missStore(op, a, 4, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeAnd64RR:
			c.R[op.dst&31] = c.R[op.dst&31] & c.R[op.src&31]
			op = nextOp(op)
			continue
		case codeAnd64RI:
			c.R[op.src&31] = c.R[op.src&31] & uint64(op.imm)
			op = nextOp(op)
			continue
		case codeAnd64RRF:
			r := c.R[op.dst&31] & c.R[op.src&31]
			c.R[op.dst&31] = r
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeAnd64RIF:
			r := c.R[op.src&31] & uint64(op.imm)
			c.R[op.src&31] = r
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeAnd64RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				y = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 8, Read)
			}
			x := c.R[op.dst&31]
			r := x & y
			c.R[op.dst&31] = r
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeAnd64MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Update)
			}
			y := c.R[op.dst&31]
			r := x & y
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = r
			} else {
				c.missStore(op, a, 8, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeAnd64MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Update)
			}
			y := uint64(op.imm)
			r := x & y
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = r
			} else {
				c.missStore(op, a, 8, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeOr32RR:
			c.R[op.dst&31] = uint64(uint32(c.R[op.dst&31] | c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeOr32RI:
			c.R[op.src&31] = uint64(uint32(c.R[op.src&31] | uint64(op.imm)))
			op = nextOp(op)
			continue
		case codeOr32RRF:
			r := uint64(uint32(c.R[op.dst&31] | c.R[op.src&31]))
			c.R[op.dst&31] = r
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeOr32RIF:
			r := uint64(uint32(c.R[op.src&31] | uint64(op.imm)))
			c.R[op.src&31] = r
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeOr32RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				y = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 4, Read)
			}
			x := c.R[op.dst&31]
			r := x | y
			c.R[op.dst&31] = uint64(uint32(r))
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeOr32MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Update)
			}
			y := c.R[op.dst&31]
			r := x | y
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(r)
			} else {
				c.missStore(op, a, 4, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeOr32MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Update)
			}
			y := uint64(op.imm)
			r := x | y
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(r)
			} else {
				c.missStore(op, a, 4, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeOr64RR:
			c.R[op.dst&31] = c.R[op.dst&31] | c.R[op.src&31]
			op = nextOp(op)
			continue
		case codeOr64RI:
			c.R[op.src&31] = c.R[op.src&31] | uint64(op.imm)
			op = nextOp(op)
			continue
		case codeOr64RRF:
			r := c.R[op.dst&31] | c.R[op.src&31]
			c.R[op.dst&31] = r
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeOr64RIF:
			r := c.R[op.src&31] | uint64(op.imm)
			c.R[op.src&31] = r
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeOr64RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				y = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 8, Read)
			}
			x := c.R[op.dst&31]
			r := x | y
			c.R[op.dst&31] = r
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeOr64MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Update)
			}
			y := c.R[op.dst&31]
			r := x | y
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = r
			} else {
				c.missStore(op, a, 8, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeOr64MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Update)
			}
			y := uint64(op.imm)
			r := x | y
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = r
			} else {
				c.missStore(op, a, 8, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeXor32RR:
			c.R[op.dst&31] = uint64(uint32(c.R[op.dst&31] ^ c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeXor32RI:
			c.R[op.src&31] = uint64(uint32(c.R[op.src&31] ^ uint64(op.imm)))
			op = nextOp(op)
			continue
		case codeXor32RRF:
			r := uint64(uint32(c.R[op.dst&31] ^ c.R[op.src&31]))
			c.R[op.dst&31] = r
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeXor32RIF:
			r := uint64(uint32(c.R[op.src&31] ^ uint64(op.imm)))
			c.R[op.src&31] = r
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeXor32RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				y = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 4, Read)
			}
			x := c.R[op.dst&31]
			r := x ^ y
			c.R[op.dst&31] = uint64(uint32(r))
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeXor32MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Update)
			}
			y := c.R[op.dst&31]
			r := x ^ y
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(r)
			} else {
				c.missStore(op, a, 4, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeXor32MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Update)
			}
			y := uint64(op.imm)
			r := x ^ y
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(r)
			} else {
				c.missStore(op, a, 4, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|2, r
			op = nextOp(op)
			continue
		case codeXor64RR:
			c.R[op.dst&31] = c.R[op.dst&31] ^ c.R[op.src&31]
			op = nextOp(op)
			continue
		case codeXor64RI:
			c.R[op.src&31] = c.R[op.src&31] ^ uint64(op.imm)
			op = nextOp(op)
			continue
		case codeXor64RRF:
			r := c.R[op.dst&31] ^ c.R[op.src&31]
			c.R[op.dst&31] = r
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeXor64RIF:
			r := c.R[op.src&31] ^ uint64(op.imm)
			c.R[op.src&31] = r
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeXor64RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				y = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 8, Read)
			}
			x := c.R[op.dst&31]
			r := x ^ y
			c.R[op.dst&31] = r
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeXor64MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Update)
			}
			y := c.R[op.dst&31]
			r := x ^ y
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = r
			} else {
				c.missStore(op, a, 8, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeXor64MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Update)
			}
			y := uint64(op.imm)
			r := x ^ y
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = r
			} else {
				c.missStore(op, a, 8, uint64(r))
				if b.dead {
					goto leave
				}
			}
			c.fop, c.fr = fopLogic|3, r
			op = nextOp(op)
			continue
		case codeCmp8RR:
			x := c.R[op.dst&31]
			y := c.R[op.src&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|0, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp8RRJ:
			x := c.R[op.dst&31]
			y := c.R[op.src&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|0, x, y, x-y
			l, r = x<<56, y<<56
		case codeCmp8RI:
			x := c.R[op.src&31]
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|0, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp8RIJ:
			x := c.R[op.src&31]
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|0, x, y, x-y
			l, r = x<<56, y<<56
		case codeCmp8RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == a>>lineShift {
				y = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 1, Read)
			}
			x := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|0, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp8RMJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == a>>lineShift {
				y = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 1, Read)
			}
			x := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|0, x, y, x-y
			l, r = x<<56, y<<56
		case codeCmp8MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == a>>lineShift {
				x = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 1, Read)
			}
			y := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|0, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp8MRJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == a>>lineShift {
				x = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 1, Read)
			}
			y := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|0, x, y, x-y
			l, r = x<<56, y<<56
		case codeCmp8MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == a>>lineShift {
				x = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 1, Read)
			}
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|0, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp8MIJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == a>>lineShift {
				x = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 1, Read)
			}
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|0, x, y, x-y
			l, r = x<<56, y<<56
		case codeTest8RR:
			v := c.R[op.dst&31] & c.R[op.src&31]
			c.fop, c.fr = fopLogic|0, v
			op = nextOp(op)
			continue
		case codeTest8RRJ:
			v := c.R[op.dst&31] & c.R[op.src&31]
			c.fop, c.fr = fopLogic|0, v
			l, r = v<<56, 0
		case codeTest8RI:
			v := c.R[op.src&31] & uint64(op.imm)
			c.fop, c.fr = fopLogic|0, v
			op = nextOp(op)
			continue
		case codeTest8RIJ:
			v := c.R[op.src&31] & uint64(op.imm)
			c.fop, c.fr = fopLogic|0, v
			l, r = v<<56, 0
		case codeTest8MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == a>>lineShift {
				x = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 1, Read)
			}
			v := x & uint64(op.imm)
			c.fop, c.fr = fopLogic|0, v
			op = nextOp(op)
			continue
		case codeTest8MIJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == a>>lineShift {
				x = uint64(*(*uint8)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 1, Read)
			}
			v := x & uint64(op.imm)
			c.fop, c.fr = fopLogic|0, v
			l, r = v<<56, 0
		case codeCmp32RR:
			x := c.R[op.dst&31]
			y := c.R[op.src&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp32RRJ:
			x := c.R[op.dst&31]
			y := c.R[op.src&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, x-y
			l, r = x<<32, y<<32
		case codeCmp32RI:
			x := c.R[op.src&31]
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp32RIJ:
			x := c.R[op.src&31]
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, x-y
			l, r = x<<32, y<<32
		case codeCmp32RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				y = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 4, Read)
			}
			x := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp32RMJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				y = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 4, Read)
			}
			x := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, x-y
			l, r = x<<32, y<<32
		case codeCmp32MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Read)
			}
			y := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp32MRJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Read)
			}
			y := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, x-y
			l, r = x<<32, y<<32
		case codeCmp32MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Read)
			}
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp32MIJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Read)
			}
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, x-y
			l, r = x<<32, y<<32
		case codeTest32RR:
			v := c.R[op.dst&31] & c.R[op.src&31]
			c.fop, c.fr = fopLogic|2, v
			op = nextOp(op)
			continue
		case codeTest32RRJ:
			v := c.R[op.dst&31] & c.R[op.src&31]
			c.fop, c.fr = fopLogic|2, v
			l, r = v<<32, 0
		case codeTest32RI:
			v := c.R[op.src&31] & uint64(op.imm)
			c.fop, c.fr = fopLogic|2, v
			op = nextOp(op)
			continue
		case codeTest32RIJ:
			v := c.R[op.src&31] & uint64(op.imm)
			c.fop, c.fr = fopLogic|2, v
			l, r = v<<32, 0
		case codeTest32MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Read)
			}
			v := x & uint64(op.imm)
			c.fop, c.fr = fopLogic|2, v
			op = nextOp(op)
			continue
		case codeTest32MIJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				x = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 4, Read)
			}
			v := x & uint64(op.imm)
			c.fop, c.fr = fopLogic|2, v
			l, r = v<<32, 0
		case codeCmp64RR:
			x := c.R[op.dst&31]
			y := c.R[op.src&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp64RRJ:
			x := c.R[op.dst&31]
			y := c.R[op.src&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, x-y
			l, r = x, y
		case codeCmp64RI:
			x := c.R[op.src&31]
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp64RIJ:
			x := c.R[op.src&31]
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, x-y
			l, r = x, y
		case codeCmp64RM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				y = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 8, Read)
			}
			x := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp64RMJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var y uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				y = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				y = c.missLoad(op, a, 8, Read)
			}
			x := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, x-y
			l, r = x, y
		case codeCmp64MR:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Read)
			}
			y := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp64MRJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Read)
			}
			y := c.R[op.dst&31]
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, x-y
			l, r = x, y
		case codeCmp64MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Read)
			}
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, x-y
			op = nextOp(op)
			continue
		case codeCmp64MIJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Read)
			}
			y := uint64(op.imm)
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, x-y
			l, r = x, y
		case codeTest64RR:
			v := c.R[op.dst&31] & c.R[op.src&31]
			c.fop, c.fr = fopLogic|3, v
			op = nextOp(op)
			continue
		case codeTest64RRJ:
			v := c.R[op.dst&31] & c.R[op.src&31]
			c.fop, c.fr = fopLogic|3, v
			l, r = v, 0
		case codeTest64RI:
			v := c.R[op.src&31] & uint64(op.imm)
			c.fop, c.fr = fopLogic|3, v
			op = nextOp(op)
			continue
		case codeTest64RIJ:
			v := c.R[op.src&31] & uint64(op.imm)
			c.fop, c.fr = fopLogic|3, v
			l, r = v, 0
		case codeTest64MI:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Read)
			}
			v := x & uint64(op.imm)
			c.fop, c.fr = fopLogic|3, v
			op = nextOp(op)
			continue
		case codeTest64MIJ:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var x uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				x = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				x = c.missLoad(op, a, 8, Read)
			}
			v := x & uint64(op.imm)
			c.fop, c.fr = fopLogic|3, v
			l, r = v, 0
		case codeSub32RRJ:
			x, y := c.R[op.dst&31], c.R[op.src&31]
			v := x - y
			c.R[op.dst&31] = uint64(uint32(v))
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, v
			l, r = x<<32, y<<32
		case codeAdd32RRJ:
			x, y := c.R[op.dst&31], c.R[op.src&31]
			v := x + y
			c.R[op.dst&31] = uint64(uint32(v))
			c.fop, c.fa, c.fb, c.fr = fopAdd|2, x, y, v
			l, r = v<<32, 0
		case codeAnd32RRJ:
			v := uint64(uint32(c.R[op.dst&31] & c.R[op.src&31]))
			c.R[op.dst&31] = v
			c.fop, c.fr = fopLogic|2, v
			l, r = v<<32, 0
		case codeSub32RIJ:
			x, y := c.R[op.src&31], uint64(op.imm)
			v := x - y
			c.R[op.src&31] = uint64(uint32(v))
			c.fop, c.fa, c.fb, c.fr = fopSub|2, x, y, v
			l, r = x<<32, y<<32
		case codeAdd32RIJ:
			x, y := c.R[op.src&31], uint64(op.imm)
			v := x + y
			c.R[op.src&31] = uint64(uint32(v))
			c.fop, c.fa, c.fb, c.fr = fopAdd|2, x, y, v
			l, r = v<<32, 0
		case codeAnd32RIJ:
			v := uint64(uint32(c.R[op.src&31] & uint64(op.imm)))
			c.R[op.src&31] = v
			c.fop, c.fr = fopLogic|2, v
			l, r = v<<32, 0
		case codeInc32J:
			x := c.R[op.src&31]
			v := x + 1
			cf := c.carry()
			c.R[op.src&31] = uint64(uint32(v))
			c.fop, c.fa, c.fb, c.fr = fopInc|2, x, cf, v
			l, r = v<<32, 0
		case codeDec32J:
			x := c.R[op.src&31]
			v := x - 1
			cf := c.carry()
			c.R[op.src&31] = uint64(uint32(v))
			c.fop, c.fa, c.fb, c.fr = fopDec|2, x, cf, v
			l, r = v<<32, 0
		case codeIncF32:
			x := c.R[op.src&31]
			v := x + 1
			cf := c.carry()
			c.R[op.src&31] = uint64(uint32(v))
			c.fop, c.fa, c.fb, c.fr = fopInc|2, x, cf, v
			op = nextOp(op)
			continue
		case codeDecF32:
			x := c.R[op.src&31]
			v := x - 1
			cf := c.carry()
			c.R[op.src&31] = uint64(uint32(v))
			c.fop, c.fa, c.fb, c.fr = fopDec|2, x, cf, v
			op = nextOp(op)
			continue
		case codeShl32I:
			c.R[op.src&31] = uint64(uint32(c.R[op.src&31] << (op.imm & 31)))
			op = nextOp(op)
			continue
		case codeShr32I:
			c.R[op.src&31] = uint64(uint32(c.R[op.src&31])) >> (op.imm & 31)
			op = nextOp(op)
			continue
		case codeSar32I:
			c.R[op.src&31] = uint64(uint32(int32(c.R[op.src&31]) >> (op.imm & 31)))
			op = nextOp(op)
			continue
		case codeShl32CL:
			c.R[op.src&31] = uint64(uint32(c.R[op.src&31] << (c.R[RCX] & 31)))
			op = nextOp(op)
			continue
		case codeShr32CL:
			c.R[op.src&31] = uint64(uint32(c.R[op.src&31])) >> (c.R[RCX] & 31)
			op = nextOp(op)
			continue
		case codeSar32CL:
			c.R[op.src&31] = uint64(uint32(int32(c.R[op.src&31]) >> (c.R[RCX] & 31)))
			op = nextOp(op)
			continue
		case codeShl32IF:
			x, n := c.R[op.src&31], uint(op.imm)&31
			v := x << n
			cf := x >> (32 - n)
			c.R[op.src&31] = uint64(uint32(v))
			c.fop, c.fa, c.fb, c.fr = fopShift|2, cf, x>>31^x>>30, v
			op = nextOp(op)
			continue
		case codeShr32IF:
			x, n := uint64(uint32(c.R[op.src&31])), uint(op.imm)&31
			v := x >> n
			c.R[op.src&31] = v
			c.fop, c.fa, c.fb, c.fr = fopShift|2, x>>(n-1), x>>31, v
			op = nextOp(op)
			continue
		case codeSar32IF:
			x, n := int32(c.R[op.src&31]), uint(op.imm)&31
			v := uint64(uint32(x >> n))
			c.R[op.src&31] = v
			c.fop, c.fa, c.fb, c.fr = fopShift|2, uint64(x>>(n-1)), 0, v
			op = nextOp(op)
			continue
		case codeRol32I:
			c.R[op.src&31] = uint64(bits.RotateLeft32(uint32(c.R[op.src&31]), int(op.imm)))
			op = nextOp(op)
			continue
		case codeNeg32:
			c.R[op.src&31] = uint64(uint32(-c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeNot32:
			c.R[op.src&31] = uint64(uint32(^c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeImul32RR:
			c.R[op.dst&31] = uint64(uint32(c.R[op.dst&31] * c.R[op.src&31]))
			op = nextOp(op)
			continue
		case codeImul32RRI:
			c.R[op.dst&31] = uint64(uint32(c.R[op.src&31] * uint64(op.imm)))
			op = nextOp(op)
			continue
		case codeCmov32:
			if c.cond(op.aux) {
				c.R[op.dst&31] = uint64(uint32(c.R[op.src&31]))
			} else {
				c.R[op.dst&31] = uint64(uint32(c.R[op.dst&31]))
			}
			op = nextOp(op)
			continue
		case codeCmovM32:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				v = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 4, Read)
			}
			if !c.cond(op.aux) {
				v = uint64(uint32(c.R[op.dst&31]))
			}
			c.R[op.dst&31] = v
			op = nextOp(op)
			continue
		case codeAdc32RR:
			c.R[op.dst&31] = uint64(uint32(c.R[op.dst&31] + c.R[op.src&31] + c.carry()))
			op = nextOp(op)
			continue
		case codeSbb32RR:
			c.R[op.dst&31] = uint64(uint32(c.R[op.dst&31] - c.R[op.src&31] - c.carry()))
			op = nextOp(op)
			continue
		case codeBsf32:
			if v := uint64(uint32(c.R[op.src&31])); v != 0 {
				c.R[op.dst&31] = uint64(bits.TrailingZeros64(v))
			}
			op = nextOp(op)
			continue
		case codeBsr32:
			if v := uint64(uint32(c.R[op.src&31])); v != 0 {
				c.R[op.dst&31] = uint64(bits.Len64(v) - 1)
			}
			op = nextOp(op)
			continue
		case codeBswap32:
			c.R[op.dst&31] = uint64(bits.ReverseBytes32(uint32(c.R[op.dst&31])))
			op = nextOp(op)
			continue
		case codeSub64RRJ:
			x, y := c.R[op.dst&31], c.R[op.src&31]
			v := x - y
			c.R[op.dst&31] = v
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, v
			l, r = x, y
		case codeAdd64RRJ:
			x, y := c.R[op.dst&31], c.R[op.src&31]
			v := x + y
			c.R[op.dst&31] = v
			c.fop, c.fa, c.fb, c.fr = fopAdd|3, x, y, v
			l, r = v, 0
		case codeAnd64RRJ:
			v := c.R[op.dst&31] & c.R[op.src&31]
			c.R[op.dst&31] = v
			c.fop, c.fr = fopLogic|3, v
			l, r = v, 0
		case codeSub64RIJ:
			x, y := c.R[op.src&31], uint64(op.imm)
			v := x - y
			c.R[op.src&31] = v
			c.fop, c.fa, c.fb, c.fr = fopSub|3, x, y, v
			l, r = x, y
		case codeAdd64RIJ:
			x, y := c.R[op.src&31], uint64(op.imm)
			v := x + y
			c.R[op.src&31] = v
			c.fop, c.fa, c.fb, c.fr = fopAdd|3, x, y, v
			l, r = v, 0
		case codeAnd64RIJ:
			v := c.R[op.src&31] & uint64(op.imm)
			c.R[op.src&31] = v
			c.fop, c.fr = fopLogic|3, v
			l, r = v, 0
		case codeInc64J:
			x := c.R[op.src&31]
			v := x + 1
			cf := c.carry()
			c.R[op.src&31] = v
			c.fop, c.fa, c.fb, c.fr = fopInc|3, x, cf, v
			l, r = v, 0
		case codeDec64J:
			x := c.R[op.src&31]
			v := x - 1
			cf := c.carry()
			c.R[op.src&31] = v
			c.fop, c.fa, c.fb, c.fr = fopDec|3, x, cf, v
			l, r = v, 0
		case codeIncF64:
			x := c.R[op.src&31]
			v := x + 1
			cf := c.carry()
			c.R[op.src&31] = v
			c.fop, c.fa, c.fb, c.fr = fopInc|3, x, cf, v
			op = nextOp(op)
			continue
		case codeDecF64:
			x := c.R[op.src&31]
			v := x - 1
			cf := c.carry()
			c.R[op.src&31] = v
			c.fop, c.fa, c.fb, c.fr = fopDec|3, x, cf, v
			op = nextOp(op)
			continue
		case codeShl64I:
			c.R[op.src&31] = c.R[op.src&31] << (op.imm & 63)
			op = nextOp(op)
			continue
		case codeShr64I:
			c.R[op.src&31] = c.R[op.src&31] >> (op.imm & 63)
			op = nextOp(op)
			continue
		case codeSar64I:
			c.R[op.src&31] = uint64(int64(c.R[op.src&31]) >> (op.imm & 63))
			op = nextOp(op)
			continue
		case codeShl64CL:
			c.R[op.src&31] = c.R[op.src&31] << (c.R[RCX] & 63)
			op = nextOp(op)
			continue
		case codeShr64CL:
			c.R[op.src&31] = c.R[op.src&31] >> (c.R[RCX] & 63)
			op = nextOp(op)
			continue
		case codeSar64CL:
			c.R[op.src&31] = uint64(int64(c.R[op.src&31]) >> (c.R[RCX] & 63))
			op = nextOp(op)
			continue
		case codeShl64IF:
			x, n := c.R[op.src&31], uint(op.imm)&63
			v := x << n
			cf := x >> (64 - n)
			c.R[op.src&31] = v
			c.fop, c.fa, c.fb, c.fr = fopShift|3, cf, x>>63^x>>62, v
			op = nextOp(op)
			continue
		case codeShr64IF:
			x, n := c.R[op.src&31], uint(op.imm)&63
			v := x >> n
			c.R[op.src&31] = v
			c.fop, c.fa, c.fb, c.fr = fopShift|3, x>>(n-1), x>>63, v
			op = nextOp(op)
			continue
		case codeSar64IF:
			x, n := int64(c.R[op.src&31]), uint(op.imm)&63
			v := uint64(x >> n)
			c.R[op.src&31] = v
			c.fop, c.fa, c.fb, c.fr = fopShift|3, uint64(x>>(n-1)), 0, v
			op = nextOp(op)
			continue
		case codeRol64I:
			c.R[op.src&31] = uint64(bits.RotateLeft64(uint64(c.R[op.src&31]), int(op.imm)))
			op = nextOp(op)
			continue
		case codeNeg64:
			c.R[op.src&31] = -c.R[op.src&31]
			op = nextOp(op)
			continue
		case codeNot64:
			c.R[op.src&31] = ^c.R[op.src&31]
			op = nextOp(op)
			continue
		case codeImul64RR:
			c.R[op.dst&31] = c.R[op.dst&31] * c.R[op.src&31]
			op = nextOp(op)
			continue
		case codeImul64RRI:
			c.R[op.dst&31] = c.R[op.src&31] * uint64(op.imm)
			op = nextOp(op)
			continue
		case codeCmov64:
			if c.cond(op.aux) {
				c.R[op.dst&31] = c.R[op.src&31]
			}
			op = nextOp(op)
			continue
		case codeCmovM64:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				v = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 8, Read)
			}
			if !c.cond(op.aux) {
				v = c.R[op.dst&31]
			}
			c.R[op.dst&31] = v
			op = nextOp(op)
			continue
		case codeAdc64RR:
			c.R[op.dst&31] = c.R[op.dst&31] + c.R[op.src&31] + c.carry()
			op = nextOp(op)
			continue
		case codeSbb64RR:
			c.R[op.dst&31] = c.R[op.dst&31] - c.R[op.src&31] - c.carry()
			op = nextOp(op)
			continue
		case codeBsf64:
			if v := c.R[op.src&31]; v != 0 {
				c.R[op.dst&31] = uint64(bits.TrailingZeros64(v))
			}
			op = nextOp(op)
			continue
		case codeBsr64:
			if v := c.R[op.src&31]; v != 0 {
				c.R[op.dst&31] = uint64(bits.Len64(v) - 1)
			}
			op = nextOp(op)
			continue
		case codeBswap64:
			c.R[op.dst&31] = bits.ReverseBytes64(c.R[op.dst&31])
			op = nextOp(op)
			continue
		case codeMul64:
			c.R[RDX], c.R[RAX] = bits.Mul64(c.R[RAX], c.R[op.src&31])
			op = nextOp(op)
			continue
		case codeMov8:
			c.R[op.dst&31] = c.R[op.dst&31]&^0xFF | c.R[op.src&31]&0xFF
			op = nextOp(op)
			continue
		case codeSet:
			c.R[op.src&31] &^= 0xFF
			if c.cond(op.aux) {
				c.R[op.src&31] |= 1
			}
			op = nextOp(op)
			continue
		case codePush:
			a := c.R[RSP] - 8
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = c.R[op.dst&31]
			} else {
				c.missStore(op, a, 8, uint64(c.R[op.dst&31]))
				c.R[RSP] = a
				if b.dead {
					goto leave
				}
			}
			c.R[RSP] = a
			op = nextOp(op)
			continue
		case codePushI:
			a := c.R[RSP] - 8
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = uint64(op.imm)
			} else {
				c.missStore(op, a, 8, uint64(uint64(op.imm)))
				c.R[RSP] = a
				if b.dead {
					goto leave
				}
			}
			c.R[RSP] = a
			op = nextOp(op)
			continue
		case codePop:
			a := c.R[RSP]
			var v uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				v = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 8, Read)
			}
			c.R[RSP] = a + 8
			c.R[op.dst&31] = v
			op = nextOp(op)
			continue
		case codeLdX:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.R == (a+15)>>lineShift {
				c.X[op.dst&15] = *(*[2]uint64)(unsafe.Add(e.P, a&lineMask))
			} else {
				c.X[op.dst&15] = c.missLoadX(op, a)
			}
			op = nextOp(op)
			continue
		case codeStX:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.W == (a+15)>>lineShift {
				*(*[2]uint64)(unsafe.Add(e.P, a&lineMask)) = c.X[op.dst&15]
			} else {
				c.missStoreX(op, a, c.X[op.dst&15])
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeLdXa:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if a&15 != 0 {
				c.raise(op, VecGP)
			}
			if e := c.entry(a); e.R == (a+15)>>lineShift {
				c.X[op.dst&15] = *(*[2]uint64)(unsafe.Add(e.P, a&lineMask))
			} else {
				c.X[op.dst&15] = c.missLoadX(op, a)
			}
			op = nextOp(op)
			continue
		case codeStXa:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if a&15 != 0 {
				c.raise(op, VecGP)
			}
			if e := c.entry(a); e.W == (a+15)>>lineShift {
				*(*[2]uint64)(unsafe.Add(e.P, a&lineMask)) = c.X[op.dst&15]
			} else {
				c.missStoreX(op, a, c.X[op.dst&15])
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeMovX:
			c.X[op.dst&15] = c.X[op.src&15]
			op = nextOp(op)
			continue
		case codeLdXq:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				v = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 8, Read)
			}
			c.X[op.dst&15] = [2]uint64{v, 0}
			op = nextOp(op)
			continue
		case codeLdXd:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var v uint64
			if e := c.entry(a); e.R == (a+3)>>lineShift {
				v = uint64(*(*uint32)(unsafe.Add(e.P, a&lineMask)))
			} else {
				v = c.missLoad(op, a, 4, Read)
			}
			c.X[op.dst&15] = [2]uint64{v, 0}
			op = nextOp(op)
			continue
		case codeStXq:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = c.X[op.dst&15][0]
			} else {
				c.missStore(op, a, 8, uint64(c.X[op.dst&15][0]))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeStXd:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			if e := c.entry(a); e.W == (a+3)>>lineShift {
				*(*uint32)(unsafe.Add(e.P, a&lineMask)) = uint32(c.X[op.dst&15][0])
			} else {
				c.missStore(op, a, 4, uint64(c.X[op.dst&15][0]))
				if b.dead {
					goto leave
				}
			}
			op = nextOp(op)
			continue
		case codeNext:
			k = 0
			c.base += b.n
			goto chain
		case codeJmp:
			k = 1
			c.base += b.n
			goto chain
		case codeJcc:
			k = 0
			if c.cond(op.aux) {
				k = 1
			}
			c.base += b.n
			goto chain
		case codeCallRel:
			a := c.R[RSP] - 8
			if e := c.entry(a); e.W == (a+7)>>lineShift {
				*(*uint64)(unsafe.Add(e.P, a&lineMask)) = op.pc + uint64(op.len)
			} else {
				c.missStore(op, a, 8, uint64(op.pc+uint64(op.len)))
			}
			c.R[RSP] = a
			if c.Calls != nil {
				c.cur = op
				c.Calls.Call(c, op.pc, uint64(op.imm), a)
			}
			k = 1
			c.base += b.n
			goto chain
		case codeRet:
			a := c.R[RSP]
			var t uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				t = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				t = c.missLoad(op, a, 8, Read)
			}
			if !canonical(t) {
				c.raise(op, VecGP)
			}
			c.R[RSP] = a + 8 + uint64(op.imm)
			if c.Calls != nil {
				c.cur = op
				c.Calls.Ret(c, op.pc, t, c.R[RSP])
			}
			c.base += b.n
			c.RIP = t
			goto indirect
		case codeJmpR:
			t := c.R[op.src&31]
			if !canonical(t) {
				c.raise(op, VecGP)
			}
			c.base += b.n
			c.RIP = t
			goto indirect
		case codeJmpM:
			a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
			var t uint64
			if e := c.entry(a); e.R == (a+7)>>lineShift {
				t = uint64(*(*uint64)(unsafe.Add(e.P, a&lineMask)))
			} else {
				t = c.missLoad(op, a, 8, Read)
			}
			if !canonical(t) {
				c.raise(op, VecGP)
			}
			c.base += b.n
			c.RIP = t
			goto indirect
		case codeCallEnd:
			c.cur = op
			op.fn(c, op)
			c.base += b.n
			goto indirect
		default:
			c.cur = op
			op.fn(c, op)
			if b.dead {
				goto leave
			}
			op = nextOp(op)
			continue
		}
		// A fused comparison of l and r, shifted so that their sign bits are on top,
		// and the jump after it.
		var t bool
		switch nextOp(op).aux {
		case ccB:
			t = l < r
		case ccB | 1:
			t = l >= r
		case ccE:
			t = l == r
		case ccE | 1:
			t = l != r
		case ccBE:
			t = l <= r
		case ccBE | 1:
			t = l > r
		case ccS:
			t = int64(l-r) < 0
		case ccS | 1:
			t = int64(l-r) >= 0
		case ccL:
			t = int64(l) < int64(r)
		case ccL | 1:
			t = int64(l) >= int64(r)
		case ccLE:
			t = int64(l) <= int64(r)
		case ccLE | 1:
			t = int64(l) > int64(r)
		}
		k = 0
		if t {
			k = 1
		}
		c.base += b.n
		break
	}
chain:
	if nb := b.next[k&1]; nb != nil {
		b = nb
		goto run
	}
	c.RIP = b.succ[k&1]
	c.cur = nil
	if !b.dead && c.base < end {
		nb := c.Blocks.get(c, c.RIP)
		if !nb.brk {
			b.link(k&1, nb)
		}
	}
	goto enter
indirect:
	if nb := c.Blocks.fast[fastIndex(c.RIP)]; nb.pc == c.RIP {
		b = nb
		goto run
	}
	goto enter
leave:
	// op invalidated its own block: go on after it with what is there now.
	c.base += uint64(op.n) + 1
	c.RIP = op.pc + uint64(op.len)
	goto enter
}
