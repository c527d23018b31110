package x86

// Handlers of their own for the packed integer instructions that programs
// execute most (string and memory functions, checksums, compression); the
// others are made by packed from the functions in exec_sse_lanes.go.

func execPxor(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = d[0]^s[0], d[1]^s[1]
}

func execPor(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = d[0]|s[0], d[1]|s[1]
}

func execPand(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = d[0]&s[0], d[1]&s[1]
}

func execPandn(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = s[0]&^d[0], s[1]&^d[1]
}

func execPcmpeqb(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = eqb(d[0], s[0]), eqb(d[1], s[1])
}

func execPcmpeqw(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = eqw(d[0], s[0]), eqw(d[1], s[1])
}

func execPcmpeqd(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = eqd(d[0], s[0]), eqd(d[1], s[1])
}

func execPaddb(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = addb(d[0], s[0]), addb(d[1], s[1])
}

func execPaddw(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = addw(d[0], s[0]), addw(d[1], s[1])
}

func execPaddd(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = addd(d[0], s[0]), addd(d[1], s[1])
}

func execPaddq(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = d[0]+s[0], d[1]+s[1]
}

func execPsubb(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = subb(d[0], s[0]), subb(d[1], s[1])
}

func execPsubw(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = subw(d[0], s[0]), subw(d[1], s[1])
}

func execPsubd(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = subd(d[0], s[0]), subd(d[1], s[1])
}

func execPsubq(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = d[0]-s[0], d[1]-s[1]
}

func execPminub(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = minub(d[0], s[0]), minub(d[1], s[1])
}

func execPmaxub(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = maxub(d[0], s[0]), maxub(d[1], s[1])
}

func execPmuludq(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = muludq(d[0], s[0]), muludq(d[1], s[1])
}

func execPmaddwd(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = maddwd(d[0], s[0]), maddwd(d[1], s[1])
}

func execPsadbw(c *CPU, op *Op) {
	s := c.xp(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = sadbw(d[0], s[0]), sadbw(d[1], s[1])
}

// A pairing computes two 16-bit or one 32-bit lane pairs' sums of v, in 32 bits
// (SSSE3 horizontal additions).
type pairing func(v uint64) uint64

func haddw(v uint64) uint64 {
	return uint64(uint16(v)+uint16(v>>16)) | uint64(uint16(v>>32)+uint16(v>>48))<<16
}
func hsubw(v uint64) uint64 {
	return uint64(uint16(v)-uint16(v>>16)) | uint64(uint16(v>>32)-uint16(v>>48))<<16
}
func haddd(v uint64) uint64 { return uint64(uint32(v) + uint32(v>>32)) }
func hsubd(v uint64) uint64 { return uint64(uint32(v) - uint32(v>>32)) }

func haddsw(v uint64) uint64 {
	return uint64(uint16(satW(int32(int16(v))+int32(int16(v>>16))))) |
		uint64(uint16(satW(int32(int16(v>>32))+int32(int16(v>>48)))))<<16
}

func hsubsw(v uint64) uint64 {
	return uint64(uint16(satW(int32(int16(v))-int32(int16(v>>16))))) |
		uint64(uint16(satW(int32(int16(v>>32))-int32(int16(v>>48)))))<<16
}

// horizontal makes the handler of PHADDW and its kin.
func horizontal(f pairing) handler {
	return func(c *CPU, op *Op) {
		lo, hi := c.xs(op)
		d := &c.X[op.dst&15]
		d[0], d[1] = f(d[0])|f(d[1])<<32, f(lo)|f(hi)<<32
	}
}
