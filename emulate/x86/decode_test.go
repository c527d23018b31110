package x86

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"math/rand/v2"
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
var beyond = []string{"k", "xbegin", "xend", "xabort", "xtest", "incssp", "rdssp", "rdpkru", "wrpkru",
	"umwait", "tpause", "umonitor", "ptwrite", "serialize", "(bad)", "movdir", "enqcmd",
	"vfmaddsd ", "vfmaddss ", "vfnmaddsd ", "vfnmaddss ", "vfmsubsd ", "vfmsubss ", "vfnmsubsd ", "vfnmsubss ", // AMD's FMA4
	"fstcw", "fstsw"} // which objdump merges with the FWAIT before them

// beyondHere says whether an instruction isn't for this processor: one of those
// above, or one with an EVEX prefix.
func beyondHere(code []byte, mnem string) bool {
	code = bytes.TrimLeft(code, "\x26\x2e\x36\x3e\x64\x65\x67")
	return len(code) > 0 && code[0] == 0x62 || slices.ContainsFunc(beyond, func(p string) bool { return strings.HasPrefix(mnem+" ", p) })
}

// dataInText lists the libraries with tables among their instructions, which
// objdump takes for instructions too.
var dataInText = map[string]bool{"libcrypto.so.3": true, "libgcrypt.so.20": true, "libnettle.so.8": true}

// prefixAlone says whether objdump, resynchronising, has shown bytes that are no
// instruction.
func prefixAlone(mnem string) bool {
	return strings.HasPrefix(mnem, "rex") || slices.Contains([]string{".byte", "cs", "ds", "es", "ss", "fs", "gs", "data16", "addr32", "lock", "repz", "repnz", "femms"}, mnem)
}

// TestLengthsAgreeWithObjdump decodes the text of libraries and checks that
// every instruction is known and as long as objdump says.
func TestLengthsAgreeWithObjdump(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip(err)
	}
	for _, lib := range []string{"libc.so.6", "libgomp.so.1", "libm.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6", "libcrypto.so.3",
		"libjpeg.so.62", "libz.so.1", "libzstd.so.1", "liblzma.so.5", "libgmp.so.10", "libgcrypt.so.20", "libnettle.so.8"} {
		path := "/lib/x86_64-linux-gnu/" + lib
		if _, err := os.Stat(path); err != nil {
			path = "/usr" + path
			if _, err := os.Stat(path); err != nil {
				continue
			}
		}
		if testing.Short() && lib != "libgomp.so.1" {
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
			if dataInText[lib] && (err != nil || prefixAlone(mnem) || code[0] == 0x9b || mnem == "jmpw") {
				bad["in data"]++
				continue
			}
			if !beyondHere(code, mnem) {
				bad[mnem]++
				if bad[mnem] == 1 {
					t.Errorf("%s: %s: length %d, error %v", lib, l, d.off, err)
				}
			}
		}
		t.Logf("%s: %d instructions, not agreed %v", lib, n, bad)
	}
}

// TestAnyBytesExecute executes arbitrary bytes: whatever they are, Run returns,
// and describing them doesn't panic. FuzzExecute does so with the fuzzer's.
func TestAnyBytesExecute(t *testing.T) {
	e := newExecutor()
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		e.execute(t, randomBytes(r), r.Uint64())
	}
}

func FuzzExecute(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		f.Add(randomBytes(r), r.Uint64())
	}
	e := newExecutor()
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) { e.execute(t, b, seed) })
}

func randomBytes(r *rand.Rand) []byte {
	b := make([]byte, 8+r.IntN(24))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

type executor struct {
	c     *CPU
	code  []byte
	clean State
}

func newExecutor() *executor {
	c, m := newFlat()
	e := &executor{c: c, code: m.add(codeBase, 0x1000, false), clean: c.State()}
	m.add(dataBase, 0x1000, true)
	return e
}

func (e *executor) execute(t *testing.T, b []byte, seed uint64) {
	clear(e.code)
	copy(e.code, b)
	c := e.c
	c.Blocks.InvalidateAll()
	s := e.clean
	r := rand.New(rand.NewPCG(seed, 3))
	for i := range 16 {
		if s.R[i] = dataBase + r.Uint64()%0x1000; r.IntN(3) == 0 {
			s.R[i] = r.Uint64() >> r.IntN(64)
		}
	}
	s.RIP = codeBase
	c.SetState(s)
	if in, err := Describe(b, codeBase); err == nil {
		_ = in.String()
	}
	stop := c.Run(4)
	if stop.Kind == 0 || stop.Kind == StopLimit && c.Count == 0 {
		t.Errorf("% x: %+v", b, stop)
	}
	c.Count = 0
}
