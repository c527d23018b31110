package x86

import "testing"

func TestCondMove(t *testing.T) {
	for _, c := range []struct {
		code []byte
		cc   uint8
		ok   bool
	}{
		{[]byte{0x0f, 0x45, 0x05, 0, 0, 0, 0}, ccE + 1, true},   // cmovne eax, [rip]
		{[]byte{0x66, 0x41, 0x0f, 0x4e, 0x00}, ccLE, true},      // cmovle ax, [r8]
		{[]byte{0x8b, 0x05, 0, 0, 0, 0}, 0, false},              // mov eax, [rip]
		{[]byte{0x0f, 0x95, 0x00}, 0, false},                    // setne [rax]
		{[]byte{0x0f, 0x45}, 0, false},                          // cut off
		{[]byte{0x48, 0x0f, 0x42, 0x44, 0x24, 0x08}, ccB, true}, // cmovb rax, [rsp+8]
	} {
		if cc, ok := CondMove(c.code, 0x1000); ok != c.ok || cc != c.cc {
			t.Errorf("% x: condition %d, %v; want %d, %v", c.code, cc, ok, c.cc, c.ok)
		}
	}
}
