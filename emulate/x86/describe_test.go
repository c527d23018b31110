package x86

import (
	"fmt"
	"strings"
	"testing"
)

// describeAll writes everything that an Info says on one line.
func describeAll(in Info) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v |", in)
	for _, o := range in.Operands {
		act := ""
		if o.Read {
			act += "r"
		}
		if o.Write {
			act += "w"
		}
		if act == "" {
			act = "-"
		}
		fmt.Fprintf(&b, " %v/%d:%s", o, o.Size, act)
	}
	for _, f := range []struct {
		name string
		mask uint64
	}{{"r", in.FlagsRead}, {"w", in.FlagsWritten}, {"u", in.FlagsUndefined}} {
		if f.mask != 0 {
			fmt.Fprintf(&b, " %s=%#x", f.name, f.mask)
		}
	}
	return b.String()
}

func TestDescribe(t *testing.T) {
	cases := []struct {
		code []byte
		want string
	}{
		{[]byte{0x48, 0x01, 0xD8}, "add rax, rbx | rax/8:rw rbx/8:r w=0x8d5"},
		{[]byte{0xF0, 0x01, 0x44, 0x8B, 0x10}, "lock add [rbx+rcx*4+0x10], eax | [rbx+rcx*4+0x10]/4:rw eax/4:r w=0x8d5"},
		{[]byte{0x88, 0x25, 0, 0, 0, 0}, "mov [0x1006], ah | [0x1006]/1:w ah/1:r"},
		{[]byte{0x64, 0x48, 0x8B, 0x04, 0x25, 0x28, 0, 0, 0}, "mov rax, [fs+0x28] | rax/8:w [fs+0x28]/8:r"},
		{[]byte{0x55}, "push rbp | rbp/8:r [rsp-0x8]/8:w rsp/8:rw"},
		{[]byte{0xE8, 0, 1, 0, 0}, "call 0x1105 | 0x1105/0:r [rsp-0x8]/8:w rsp/8:rw"},
		{[]byte{0x74, 0xFE}, "je 0x1000 | 0x1000/0:r r=0x40"},
		{[]byte{0xF3, 0xA4}, "rep movs | [rdi]/1:w [rsi]/1:r rsi/8:rw rdi/8:rw rcx/8:rw r=0x400"},
		{[]byte{0xA4}, "movs | [rdi]/1:w [rsi]/1:r rsi/8:rw rdi/8:rw r=0x400"},
		{[]byte{0xC1, 0xE0, 0x05}, "shl eax, 0x5 | eax/4:rw 0x5/0:r w=0x8d5 u=0x10"},
		{[]byte{0x0F, 0xB6, 0xC4}, "movzx eax, ah | eax/4:w ah/1:r"},
		{[]byte{0x48, 0x8D, 0x44, 0x24, 0x08}, "lea rax, [rsp+0x8] | rax/8:w [rsp+0x8]/0:-"},
		{[]byte{0xF7, 0xF1}, "div ecx | ecx/4:r eax/4:rw edx/4:rw w=0x8d5 u=0x8d5"},
		{[]byte{0x66, 0x0F, 0x6F, 0x07}, "movdqa xmm0, [rdi] | xmm0/16:w [rdi]/16:r"},
	}
	for _, tc := range cases {
		in, err := Describe(tc.code, 0x1000)
		if err != nil {
			t.Errorf("% x: %v", tc.code, err)
			continue
		}
		if got := describeAll(in); got != tc.want || in.Len != len(tc.code) {
			t.Errorf("% x (length %d): %s\nwant %s", tc.code, in.Len, got, tc.want)
		}
	}
	for _, code := range [][]byte{{}, {0x48}, {0x0F}, {0x62, 0xF1, 0x7C, 0x48, 0x28, 0xC1}, {0xC5, 0xF8, 0x77 ^ 1}, {0xF0, 0x01, 0xC0}} {
		if in, err := Describe(code, 0); err == nil {
			t.Errorf("% x: no error but %v", code, in)
		}
	}
}

// TestRowsDescribeThemselves builds an instruction for every row and describes
// it; the decoder must find that row or a more specific one.
func TestRowsDescribeThemselves(t *testing.T) {
	n := 0
	for m := range forms() {
		for o := range forms()[m] {
			for _, f := range forms()[m][o] {
				code := sampleOf(f, uint8(m), uint8(o))
				in, err := Describe(code, 0x1000)
				if err != nil {
					t.Errorf("%s %s: % x: %v", f.enc, f.mnem, code, err)
					continue
				}
				_ = in.String()
				n++
			}
		}
	}
	if n < 400 {
		t.Errorf("only %d forms", n)
	}
}

// sampleOf encodes an instruction of form f.
func sampleOf(f *form, opmap, opcode uint8) []byte {
	if f.vex {
		return sampleVEX(f, opmap, opcode)
	}
	var b []byte
	switch f.prefix {
	case prefix66:
		b = append(b, 0x66)
	case prefixF3:
		b = append(b, 0xF3)
	case prefixF2:
		b = append(b, 0xF2)
	}
	if f.w == 1 {
		b = append(b, 0x48)
	}
	b = append(b, [][]byte{{}, {0x0F}, {0x0F, 0x38}, {0x0F, 0x3A}}[opmap]...)
	b = append(b, opcode)
	if f.modrm {
		m := byte(0xC1)
		if f.mod == modMem {
			m = 0x01
		}
		if f.digit >= 0 {
			m |= byte(f.digit) << 3
		}
		if f.fixed >= 0 {
			m = byte(f.fixed)
		}
		b = append(b, m)
	}
	return append(b, make([]byte, maxInst-len(b))...)
}

// sampleVEX is sampleOf with a three-byte VEX prefix.
func sampleVEX(f *form, opmap, opcode uint8) []byte {
	last := byte(0x78)
	switch f.prefix {
	case prefix66:
		last |= 1
	case prefixF3:
		last |= 2
	case prefixF2:
		last |= 3
	}
	if f.long == 1 {
		last |= 4
	}
	if f.w == 1 {
		last |= 0x80
	}
	b := []byte{0xC4, 0xE0 | opmap - vexMaps, last, opcode}
	m := byte(0xC1)
	if f.mod == modMem {
		m = 0x04 // with a SIB byte
	}
	if f.digit >= 0 {
		m |= byte(f.digit) << 3
	}
	if f.modrm {
		b = append(b, m)
	}
	return append(b, make([]byte, maxInst-len(b))...)
}

func TestMemExprAddr(t *testing.T) {
	in, err := Describe([]byte{0x64, 0x67, 0x8B, 0x44, 0x8B, 0x10}, 0) // mov eax, fs:[ebx+ecx*4+0x10]
	if err != nil {
		t.Fatal(err)
	}
	var c CPU
	c.R[RBX], c.R[RCX], c.R[RegFS] = 0xFFFFFFFF0, 2, 0x7000
	if a := in.Operands[1].Mem.Addr(&c); a != 0x7000+0x8 {
		t.Errorf("%v is %#x", in.Operands[1], a)
	}
}
