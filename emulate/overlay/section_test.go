package overlay

import "testing"

// Heap blocks below a stack whose bounds are known aren't part of it.
func TestOnStack(t *testing.T) {
	const sp, mb = 0xc000_100000, 1 << 20
	for _, c := range []struct {
		stack [2]uint64
		addr  uint64
		on    bool
	}{
		{[2]uint64{}, sp - 8, true},
		{[2]uint64{}, sp - 4*mb, true},
		{[2]uint64{}, sp - 9*mb, false},
		{[2]uint64{}, sp, false},
		{[2]uint64{sp - 0x1000, sp + 0x1000}, sp - 8, true},
		{[2]uint64{sp - 0x1000, sp + 0x1000}, sp - 0x1000, true},
		{[2]uint64{sp - 0x1000, sp + 0x1000}, sp - 0x1008, false},
		{[2]uint64{sp - 0x1000, sp + 0x1000}, sp + 8, false},
	} {
		if s := (&Section{SP: sp, Stack: c.stack}); s.OnStack(c.addr) != c.on {
			t.Errorf("stack %x: 0x%x is on it: %v", c.stack, c.addr, !c.on)
		}
	}
	if s := (&Section{SP: ^uint64(0), Stack: [2]uint64{sp - 0x1000, sp}}); s.OnStack(sp+0x100) || !s.OnStack(sp-8) {
		t.Error("a first function's stack ends where the stack does")
	}
}
