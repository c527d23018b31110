package x86

import (
	"debug/elf"
	"encoding/hex"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// BenchmarkBuild reports instructions decoded into blocks per second, over the
// text of the C library.
func BenchmarkBuild(b *testing.B) {
	f, err := elf.Open("/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		b.Fatal(err)
	}
	code = code[:1<<17]
	c, m := newFlat()
	copy(m.add(codeBase, len(code), false), code)
	n := uint64(0)
	for b.Loop() {
		c.Blocks = NewBlockCache()
		for at := uint64(codeBase); at < codeBase+uint64(len(code))-64; {
			bl := c.Blocks.get(c, at)
			n += bl.n
			at = bl.succ[0]
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Minst/s")
}

// beyond are the mnemonics (prefixes of them) in the system's libraries that
// this processor doesn't have: the libraries look before they use them.
var beyond = []string{"v", "k", "xsave", "xrstor", "xbegin", "xend", "xabort", "xtest", "incssp", "rdssp", "rdpkru", "wrpkru",
	"tzcnt", "lzcnt", "andn", "bextr", "bls", "bzhi", "mulx", "pdep", "pext", "rorx", "sarx", "shlx", "shrx", "cldemote",
	"umwait", "tpause", "umonitor", "ptwrite", "serialize", "(bad)", "aes", "pclmul", "sha1", "sha256", "movdir", "enqcmd",
	"fstcw", "fstsw"} // which objdump merges with the FWAIT before them

// TestLengthsAgreeWithObjdump decodes the text of libraries and checks that
// every instruction is known and as long as objdump says.
func TestLengthsAgreeWithObjdump(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip(err)
	}
	for _, lib := range []string{"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libgomp.so.1", "libstdc++.so.6"} {
		path := "/lib/x86_64-linux-gnu/" + lib
		if _, err := os.Stat(path); err != nil {
			path = "/usr" + path
		}
		if testing.Short() && lib != "libc.so.6" {
			continue
		}
		text, err := exec.Command(objdump, "-d", "-w", "-z", path).Output()
		if err != nil {
			t.Logf("%s: %v", lib, err)
			continue
		}
		n, bad := 0, map[string]int{}
		for _, l := range strings.Split(string(text), "\n") {
			parts := strings.Split(l, "\t")
			if len(parts) < 3 {
				continue
			}
			code, err := hex.DecodeString(strings.ReplaceAll(parts[1], " ", ""))
			if err != nil || len(code) == 0 {
				continue
			}
			n++
			d := inst{code: append(code, make([]byte, maxInst)...)[:maxInst]}
			_, err = d.decode()
			if err == nil && d.off == len(code) {
				continue
			}
			mnem, _, _ := strings.Cut(parts[2], " ")
			if !slices.ContainsFunc(beyond, func(p string) bool { return strings.HasPrefix(mnem, p) }) {
				bad[mnem]++
				if bad[mnem] == 1 {
					t.Errorf("%s: %s: length %d, error %v", lib, l, d.off, err)
				}
			}
		}
		t.Logf("%s: %d instructions, not agreed %v", lib, n, bad)
	}
}
