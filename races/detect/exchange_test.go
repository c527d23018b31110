package detect

import "testing"

// An exchange is a store only if nobody looks at what it loaded.
func TestDiscards(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want bool
	}{
		{"counter in a loop", []byte{
			0x8b, 0x07, // mov (%rdi),%eax
			0x83, 0xc0, 0x01, // add $1,%eax
			0x87, 0x07, // xchg %eax,(%rdi)
			0x83, 0xea, 0x01, // sub $1,%edx
			0x75, 0xf4, // jne to the mov
			0xb8, 0, 0, 0, 0, // mov $0,%eax
			0xc3, // ret
		}, true},
		{"cleared by xor", []byte{0x87, 0x07, 0x31, 0xc0, 0xc3}, true},
		{"tested", []byte{0x87, 0x07, 0x85, 0xc0, 0x75, 0xfa, 0x31, 0xc0, 0xc3}, false},
		{"returned", []byte{0x87, 0x07, 0xc3}, false},
		{"used on one path", []byte{
			0x87, 0x07, // xchg %eax,(%rdi)
			0x85, 0xd2, // test %edx,%edx
			0x74, 0x03, // je over
			0x31, 0xc0, // xor %eax,%eax
			0xc3,       // ret
			0x89, 0x06, // mov %eax,(%rsi)
			0x31, 0xc0, 0xc3,
		}, false},
		{"an address", []byte{0x48, 0x87, 0x07, 0x8b, 0x10, 0x31, 0xc0, 0xc3}, false},
		{"half of it overwritten", []byte{0x87, 0x07, 0xb0, 0x01, 0xc3}, false},
		{"not an exchange", []byte{0x89, 0x07, 0x31, 0xc0, 0xc3}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := uint64(0)
			if c.code[0] == 0x8b {
				at = 5
			}
			code := func(pc uint64) []byte { return c.code[min(pc, uint64(len(c.code))):] }
			if got := discards(code, at); got != c.want {
				t.Errorf("discards: %v, want %v", got, c.want)
			}
		})
	}
}
