package detect

import "testing"

// An update is blind if neither a register nor a flag tells what was there.
func TestBlind(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want bool
	}{
		{"add to memory, return", []byte{0x83, 0x07, 0x01, 0xc3}, true},
		{"lea keeps flags, jump on them", []byte{0x83, 0x07, 0x01, 0x48, 0x8d, 0x04, 0x0f, 0x74, 0xf7, 0xc3}, false},
		{"flags overwritten, then a jump", []byte{0x83, 0x07, 0x01, 0x85, 0xd2, 0x74, 0xf9, 0xc3}, true},
		{"inc leaves the carry alone", []byte{0xff, 0x07, 0xc3}, true},
		{"add, then inc of a register, then jump on carry", []byte{0x83, 0x07, 0x01, 0xff, 0xc0, 0x72, 0xf9, 0xc3}, false},
		{"a load", []byte{0x8b, 0x07, 0xc3}, false},
		{"a store", []byte{0x89, 0x07, 0xc3}, false},
		{"xadd", []byte{0x0f, 0xc1, 0x07, 0xc3}, false},
		{"locked", []byte{0xf0, 0x83, 0x07, 0x01, 0xc3}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			code := func(pc uint64) []byte { return c.code[min(pc, uint64(len(c.code))):] }
			if got := blind(code, 0); got != c.want {
				t.Errorf("blind: %v, want %v", got, c.want)
			}
		})
	}
}
