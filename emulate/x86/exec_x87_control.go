package x86

import "encoding/binary"

// Control: words, environment, whole state.

func execFWAIT(c *CPU, op *Op) { c.checkMF(op) }

func execFNOP(c *CPU, op *Op) {
	c.checkMF(op)
	c.F.IP = op.pc
}

// exec8087 is what the control instructions of the 8087 and 80287 are today.
func exec8087(c *CPU, op *Op) {}

func execFNINIT(c *CPU, op *Op) { c.F.Init() }

func execFNCLEX(c *CPU, op *Op) {
	c.F.SW &^= swExc | swSF | swES | swB
}

func execFLDCW(c *CPU, op *Op) {
	c.checkMF(op)
	c.F.SetControlWord(c.ld16(op, c.ea(op)))
}

func execFNSTCW(c *CPU, op *Op) { c.st16(op, c.ea(op), c.F.CW) }

func execFNSTSW(c *CPU, op *Op) { c.st16(op, c.ea(op), c.F.StatusWord()) }

func execFNSTSWAX(c *CPU, op *Op) { c.setReg(RAX, 2, uint64(c.F.StatusWord())) }

// envBuild notes the operand-size prefix: the environment is 14 bytes with it,
// else 28.
func envBuild(fn handler) func(d *inst, op *Op) {
	return func(d *inst, op *Op) {
		op.aux = 28
		if d.opsize && !d.w() {
			op.aux = 14
		}
		op.fn = fn
	}
}

// env writes the environment in one of the protected-mode layouts (SDM volume
// 1, figures 8-9 and 8-11); segment selectors are deprecated and zero.
func (f *FPU) env(size uint8) []byte {
	le := binary.LittleEndian
	if size == 14 {
		b := make([]byte, 14, 94)
		le.PutUint16(b[0:], f.CW)
		le.PutUint16(b[2:], f.StatusWord())
		le.PutUint16(b[4:], f.TagWord())
		le.PutUint16(b[6:], uint16(f.IP))
		le.PutUint16(b[10:], uint16(f.DP))
		return b
	}
	b := make([]byte, 28, 108)
	le.PutUint32(b[0:], 0xffff0000|uint32(f.CW))
	le.PutUint32(b[4:], 0xffff0000|uint32(f.StatusWord()))
	le.PutUint32(b[8:], 0xffff0000|uint32(f.TagWord()))
	le.PutUint32(b[12:], uint32(f.IP))
	le.PutUint32(b[16:], uint32(f.Op)<<16)
	le.PutUint32(b[20:], uint32(f.DP))
	le.PutUint32(b[24:], 0xffff0000)
	return b
}

func (f *FPU) setEnv(b []byte) {
	le := binary.LittleEndian
	cw, sw, tw := le.Uint16(b), uint16(0), uint16(0)
	if len(b) == 14 {
		sw, tw = le.Uint16(b[2:]), le.Uint16(b[4:])
		f.IP, f.DP, f.Op = uint64(le.Uint16(b[6:])), uint64(le.Uint16(b[10:])), 0
	} else {
		sw, tw = le.Uint16(b[4:]), le.Uint16(b[8:])
		f.IP, f.DP = uint64(le.Uint32(b[12:])), uint64(le.Uint32(b[20:]))
		f.Op = le.Uint16(b[18:]) & 0x7ff
	}
	f.SetControlWord(cw)
	f.SetStatusWord(sw)
	f.SetTagWord(tw)
}

func execFNSTENV(c *CPU, op *Op) {
	c.storeBytes(op, c.ea(op), c.F.env(op.aux))
	c.F.SetControlWord(c.F.CW | swExc)
}

func execFLDENV(c *CPU, op *Op) {
	c.checkMF(op)
	b := make([]byte, op.aux)
	c.loadBytes(op, c.ea(op), b)
	c.F.setEnv(b)
}

func execFNSAVE(c *CPU, op *Op) {
	b := c.F.env(op.aux)
	for i := range uint8(8) {
		v := c.F.st(i)
		b = binary.LittleEndian.AppendUint64(b, v.Man)
		b = binary.LittleEndian.AppendUint16(b, v.SE)
	}
	c.storeBytes(op, c.ea(op), b)
	c.F.Init()
}

func execFRSTOR(c *CPU, op *Op) {
	c.checkMF(op)
	b := make([]byte, int(op.aux)+80)
	c.loadBytes(op, c.ea(op), b)
	c.F.setEnv(b[:op.aux])
	for i := range uint8(8) {
		p := b[int(op.aux)+10*int(i):]
		*c.F.st(i) = Float80{binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint16(p[8:])}
	}
}
