package x86

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/racesim/racesim/hwmodel"
)

// flat is a Memory and Env of a few mapped regions, for tests.
type flat struct {
	regions  []region
	orders   int
	noTags   bool // every access goes the slow way
	yieldAt  int  // Orderable call that yields
	nondet   uint64
	invalids *BlockCache // told of stores to code pages
}

type region struct {
	addr  uint64
	b     []byte
	write bool
}

func (m *flat) add(addr uint64, n int, write bool) []byte {
	raw := make([]byte, n+64)
	off := -uintptr(unsafe.Pointer(&raw[0])) & 63
	b := raw[off : int(off)+n]
	m.regions = append(m.regions, region{addr, b, write})
	return b
}

func (m *flat) find(a uint64) *region {
	for i := range m.regions {
		if r := &m.regions[i]; a-r.addr < uint64(len(r.b)) {
			return r
		}
	}
	return nil
}

func (m *flat) Line(c *CPU, line uint64, write bool) unsafe.Pointer {
	a := line << lineShift
	r := m.find(a)
	if r == nil || write && !r.write {
		code := uint32(4)
		if write {
			code |= 2
		}
		Raise(&Stop{Kind: StopFault, Vector: VecPF, Addr: a, Code: code})
	}
	p := unsafe.Pointer(&r.b[a-r.addr])
	if !m.noTags {
		c.Win.Allow(line, p, r.write)
	}
	if write && m.invalids != nil {
		m.invalids.Invalidate(a >> pageShift)
		c.Win.DropWrite(line)
	}
	return p
}

func (m *flat) Code(c *CPU, pc uint64) []byte {
	r := m.find(pc)
	if r == nil {
		return nil
	}
	end := min((pc|(1<<pageShift-1))+1-r.addr, uint64(len(r.b)))
	return r.b[pc-r.addr : end]
}

func (m *flat) Orderable(c *CPU, addr uint64, size int) {
	m.orders++
	if m.orders == m.yieldAt {
		Raise(&Stop{Kind: StopYield})
	}
}

func (m *flat) Nondet(c *CPU, what NondetKind, dst uint8, size int) {
	m.nondet++
	c.R[RAX], c.R[RDX] = m.nondet, 0
}

func newFlat() (*CPU, *flat) {
	m := &flat{}
	c := &CPU{Win: new(hwmodel.Window), Mem: m, Env: m, Blocks: NewBlockCache(), MXCSR: 0x1F80}
	c.Win.Clear()
	c.F.Init()
	c.SetFlags(0)
	return c, m
}

const (
	stackTop = 0x7FFF00100000
	retAddr  = 0x7FFE00000000
)

// A program is a freestanding C file, compiled into an ELF image and natively.
type program struct {
	path  string
	image *elf.File
	syms  map[string]uint64
	out   map[string]string // native results: "name seed" to value
}

// compile builds src twice: freestanding for the emulator, and with a main
// that prints what every f_ function returns for some seeds.
func compile(t testing.TB, src, opt string) *program {
	t.Helper()
	dir := t.TempDir()
	p := &program{path: filepath.Join(dir, "image"), syms: map[string]uint64{}, out: map[string]string{}}
	gcc := func(args ...string) {
		if b, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %v: %v\n%s", args, err, b)
		}
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc")
	}
	common := []string{opt, "-march=x86-64-v2", "-fno-stack-protector", "-w", src}
	gcc(append(common, "-static", "-nostdlib", "-ffreestanding", "-fno-tree-loop-distribute-patterns", "-Wl,-e,0", "-o", p.path)...)
	f, err := elf.Open(p.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	p.image = f
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	for _, s := range syms {
		p.syms[s.Name] = s.Value
		if strings.HasPrefix(s.Name, "f_") {
			// A process each: what one leaves in memory the next doesn't see.
			fmt.Fprintf(&body, "for (unsigned long i = 0; i < 3; i++) if (!fork()) { printf(\"%s %%lu %%lu\\n\", i, %s(i)); return 0; } else wait(0);\n", s.Name, s.Name)
		}
	}
	main := filepath.Join(dir, "main.c")
	abs, _ := filepath.Abs(src)
	text := fmt.Sprintf("#include \"%s\"\n#include <stdio.h>\n#include <unistd.h>\n#include <sys/wait.h>\nint main(void) {\n%s}\n", abs, body.String())
	if err := os.WriteFile(main, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "native")
	common[len(common)-1] = main
	gcc(append(common, "-fno-tree-loop-distribute-patterns", "-o", exe)...)
	b, err := exec.Command(exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		i := strings.LastIndexByte(l, ' ')
		p.out[l[:i]] = l[i+1:]
	}
	return p
}

// load makes a CPU with p in memory and a stack.
func (p *program) load(t testing.TB) (*CPU, *flat) {
	t.Helper()
	c, m := newFlat()
	for _, ph := range p.image.Progs {
		if ph.Type != elf.PT_LOAD || ph.Memsz == 0 {
			continue
		}
		start := ph.Vaddr &^ 0xFFF
		b := m.add(start, int((ph.Vaddr+ph.Memsz-start+0xFFF)&^0xFFF), ph.Flags&elf.PF_W != 0)
		if _, err := ph.ReadAt(b[ph.Vaddr-start:][:ph.Filesz], 0); err != nil {
			t.Fatal(err)
		}
	}
	m.add(stackTop-0x100000, 0x100000, true)
	return c, m
}

// callTo sets c up to call the function at addr with one argument, and to stop
// when it returns.
func callTo(c *CPU, m *flat, addr, arg uint64) {
	c.R[RSP] = stackTop - 8
	r := m.find(stackTop - 8)
	*(*uint64)(unsafe.Pointer(&r.b[len(r.b)-8])) = retAddr
	c.R[RDI] = arg
	c.RIP = addr
	if m.find(retAddr) == nil {
		m.add(retAddr, 4096, false)
		m.regions[len(m.regions)-1].b[0] = 0xF4
		c.Blocks.Break(retAddr)
	}
}
