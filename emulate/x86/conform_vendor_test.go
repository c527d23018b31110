package x86

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"sync"
)

// The emulated processor does as Intel's do where the manual leaves room. Those
// of other makers do otherwise there: what follows can't be compared with them.

// intelHost says whether the host's processor is Intel's.
var intelHost = sync.OnceValue(func() bool {
	b, err := os.ReadFile("/proc/cpuinfo")
	return err != nil || bytes.Contains(b, []byte("GenuineIntel"))
})

// elsewhere says what is done otherwise, by mnemonic.
var elsewhere = func() map[string]string {
	m := map[string]string{}
	for _, l := range []struct{ names, why string }{
		{"rcpps rcpss rsqrtps rsqrtss vrcpps vrcpss vrsqrtps vrsqrtss", "approximations have other last bits"},
		{"sha1rnds4 sha1nexte sha1msg1 sha1msg2 sha256rnds2 sha256msg1 sha256msg2", "their operands in memory needn't be aligned"},
		{"ldmxcsr vldmxcsr", "MXCSR has a bit more"},
		{"dpps vdpps dppd vdppd", "which of several NaNs is propagated"},
		{"vcvtps2ph", "it sets fewer flags of MXCSR"},
		{"vpgatherdd vpgatherdq vpgatherqd vpgatherqq vgatherdps vgatherdpd vgatherqps vgatherqpd", "what has been gathered when it faults"},
		{"fnstenv fstenv fnsave fsave fxsave fxsave64 xsave xsave64 xsaveopt xsaveopt64 xsavec xsavec64", "the x87 instruction pointer is saved only with an exception"},
		{"shld shrd", "results of counts beyond the operand's size"},
	} {
		for _, n := range strings.Fields(l.names) {
			m[n] = l.why
		}
	}
	return m
}()

// shiftNames are those whose undefined flags the emulator sets as Intel does.
var shiftNames = []string{"rol", "ror", "rcl", "rcr", "shl", "shr", "sar"}

// otherwise says why an instruction can't be compared with this host; "": it
// can.
func otherwise(f *form, code []byte) string {
	if intelHost() {
		return ""
	}
	if why := elsewhere[f.mnem]; why != "" {
		return why
	}
	if f.mnem == "call" && bytes.IndexByte(code, 0xFF) >= 0 {
		return "what has been pushed if the target isn't canonical"
	}
	if isTranscendental[f.mnem] {
		return "results have other last bits"
	}
	if strings.HasPrefix(f.mnem, "loop") && (bytes.IndexByte(code, 0xF2) >= 0 || bytes.IndexByte(code, 0xF3) >= 0) {
		return "a prefix takes part in the condition"
	}
	if isBranch(f.mnem) && bytes.IndexByte(code, 0x66) >= 0 {
		return "the prefix 66 cuts off the instruction pointer"
	}
	if isString(f) && bytes.IndexByte(code, 0x67) >= 0 {
		return "what becomes of RCX's upper half if nothing is repeated"
	}
	return ""
}

// checksFirst says whether f is a store of the x87's, whose address other
// processors check before they look for an exception that keeps it from
// storing.
func checksFirst(f *form) bool {
	return !intelHost() && slices.Contains([]string{"fst", "fstp", "fist", "fistp", "fisttp", "fbstp"}, f.mnem)
}

func isBranch(mnem string) bool {
	return mnem[0] == 'j' || slices.Contains([]string{"call", "ret", "loop", "loope", "loopne"}, mnem)
}

// undefinedElsewhere are the flags that this host may leave in another state.
func undefinedElsewhere(f *form) uint64 {
	if !intelHost() && slices.Contains(shiftNames, f.mnem) {
		return OF | AF
	}
	return 0
}
