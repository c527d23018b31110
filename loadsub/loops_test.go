package loadsub

import (
	"slices"
	"testing"
)

func codeAt(base uint64, b []byte) func(uint64) []byte {
	return func(pc uint64) []byte {
		if pc < base || pc >= base+uint64(len(b)) {
			return nil
		}
		return b[pc-base:]
	}
}

func TestLoopThatIsEnteredAtItsCondition(t *testing.T) {
	code := []byte{
		0xeb, 0x02, // 0: jmp 4
		0x31, 0xc9, // 2: xor ecx, ecx
		0x85, 0xc0, // 4: test eax, eax
		0x75, 0xfa, // 6: jne 2
		0xc3, // 8: ret
	}
	f := newFlow(codeAt(0x1000, code), 0x1000, 0x1009, 0x1000, nil)
	for _, pc := range []uint64{0x1002, 0x1004, 0x1006} {
		if got := f.headers(pc); !slices.Equal(got, []uint64{0x1004}) {
			t.Errorf("heads around %#x: %#x, want 0x1004", pc, got)
		}
	}
	for _, pc := range []uint64{0x1000, 0x1008} {
		if got := f.headers(pc); len(got) != 0 {
			t.Errorf("heads around %#x: %#x, want none", pc, got)
		}
	}
}

func TestJumpBackToCodeThatOnlyStandsBeforeIsNoLoop(t *testing.T) {
	code := []byte{
		0xeb, 0x03, // 0: jmp 5
		0x31, 0xc9, // 2: xor ecx, ecx
		0xc3,       // 4: ret
		0xeb, 0xfb, // 5: jmp 2
	}
	f := newFlow(codeAt(0x1000, code), 0x1000, 0x1007, 0x1000, nil)
	for _, pc := range []uint64{0x1002, 0x1005} {
		if got := f.headers(pc); len(got) != 0 {
			t.Errorf("heads around %#x: %#x, want none", pc, got)
		}
	}
}

func TestNestedLoopsInnermostFirst(t *testing.T) {
	code := []byte{
		0x31, 0xc9, // 0: xor ecx, ecx   outer
		0xff, 0xc1, // 2: inc ecx        inner
		0x75, 0xfc, // 4: jne 2
		0xff, 0xc8, // 6: dec eax
		0x75, 0xf6, // 8: jne 0
		0xc3, // a: ret
	}
	f := newFlow(codeAt(0x1000, code), 0x1000, 0x100b, 0x1000, nil)
	if got := f.headers(0x1002); !slices.Equal(got, []uint64{0x1002, 0x1000}) {
		t.Errorf("heads %#x, want 0x1002 and 0x1000", got)
	}
	if got := f.headers(0x1006); !slices.Equal(got, []uint64{0x1000}) {
		t.Errorf("heads %#x, want 0x1000", got)
	}
}

func TestIndirectJumpsUseWhatWasSeen(t *testing.T) {
	code := []byte{
		0xff, 0xe0, // 0: jmp rax
		0x31, 0xc9, // 2: xor ecx, ecx
		0xeb, 0xfa, // 4: jmp 0
	}
	f := newFlow(codeAt(0x1000, code), 0x1000, 0x1006, 0x1000, nil)
	if !f.table || len(f.headers(0x1000)) != 0 {
		t.Errorf("table %v, heads %#x; want a table and no loop", f.table, f.headers(0x1000))
	}
	f = newFlow(codeAt(0x1000, code), 0x1000, 0x1006, 0x1000, map[uint64][]uint64{0x1000: {0x1002}})
	if got := f.headers(0x1004); !slices.Equal(got, []uint64{0x1000}) {
		t.Errorf("heads %#x, want 0x1000", got)
	}
}
