package x86

import "testing"

func TestSharedCodeIsDecodedAsItIsHere(t *testing.T) {
	// 1: add $1, %rax; inc %ecx; jmp 1b
	code := []byte{0x48, 0x83, 0xC0, 1, 0xFF, 0xC1, 0xEB, 0xF8}
	d := NewDecoded()
	machine := func(code []byte) *CPU {
		c, _, _ := machineWith(code...)
		c.Blocks = d.NewBlockCache()
		return c
	}
	first := machine(code)
	mustStop(t, first.Run(30), StopLimit)
	if len(d.m) == 0 {
		t.Fatal("nothing was kept")
	}
	again := machine(code)
	mustStop(t, again.Run(30), StopLimit)
	if again.R != first.R {
		t.Errorf("with code that was decoded before: %v, want %v", again.R, first.R)
	}
	if &again.Blocks.blocks[codeBase].ops[0] != &first.Blocks.blocks[codeBase].ops[0] {
		t.Error("it was decoded again")
	}
	stops := machine(code)
	stops.Blocks.Break(codeBase + 4)
	mustStop(t, stops.Run(30), StopBreak)
	if stops.RIP != codeBase+4 || stops.Count != 1 {
		t.Errorf("break: RIP %#x, Count %d", stops.RIP, stops.Count)
	}
	changed := append([]byte(nil), code...)
	changed[3] = 5
	other := machine(changed)
	mustStop(t, other.Run(30), StopLimit)
	if other.R[RAX] != 50 {
		t.Errorf("with another immediate: RAX %d, want 50", other.R[RAX])
	}
	// A block that a break cut short isn't for others.
	d = NewDecoded()
	stops = machine(code)
	stops.Blocks.Break(codeBase + 4)
	mustStop(t, stops.Run(1), StopLimit)
	whole := machine(code)
	mustStop(t, whole.Run(30), StopLimit)
	if whole.R != first.R || whole.Blocks.blocks[codeBase].n != 3 {
		t.Errorf("after a cut block: %v, %d instructions in the block", whole.R, whole.Blocks.blocks[codeBase].n)
	}
}
