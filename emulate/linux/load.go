package linux

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
)

// An image is a program in memory, ready to start.
type image struct {
	start  uint64 // where execution begins: the interpreter's entry, if there is one
	entry  uint64 // AT_ENTRY
	base   uint64 // AT_BASE: the interpreter's load bias, 0 without one
	phdr   uint64 // AT_PHDR
	phnum  int
	phent  int
	execfn string
}

// maxScripts is how deep #! lines may nest.
const maxScripts = 4

// loadProgram maps the program at path, and its interpreter.
func (p *Process) loadProgram(path string, depth int) (*image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("linux: %w", err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && (st.IsDir() || st.Mode()&0o111 == 0) {
		return nil, fmt.Errorf("linux: %s: not an executable file", path)
	}
	magic := make([]byte, 2)
	if _, err := io.ReadFull(f, magic); err == nil && string(magic) == "#!" {
		return p.loadScript(f, path, depth)
	}
	e, err := openELF(f, path)
	if err != nil {
		return nil, err
	}
	bias := uint64(0)
	if e.Type == elf.ET_DYN {
		bias = p.layout.pie
	}
	end, err := p.mapImage(f, path, e, bias)
	if err != nil {
		return nil, err
	}
	p.AS.brkStart = up(end)
	p.AS.brk = p.AS.brkStart
	img := &image{entry: e.Entry + bias, execfn: p.cfg.Path}
	img.start = img.entry
	img.phdr, img.phent, img.phnum = programHeaders(e, bias)
	for _, ph := range e.Progs {
		if ph.Type != elf.PT_INTERP {
			continue
		}
		if ph.Filesz > unix.PathMax {
			return nil, fmt.Errorf("linux: %s: the interpreter's name is %d bytes long, maximum %d", path, ph.Filesz, unix.PathMax)
		}
		name := make([]byte, ph.Filesz)
		if _, err := ph.ReadAt(name, 0); err != nil {
			return nil, fmt.Errorf("linux: %s: interpreter: %w", path, err)
		}
		if err := p.loadInterpreter(img, strings.TrimRight(string(name), "\x00")); err != nil {
			return nil, err
		}
	}
	return img, nil
}

// openELF reads the headers of an x86-64 program.
func openELF(f *os.File, path string) (*elf.File, error) {
	e, err := elf.NewFile(f)
	if err != nil {
		return nil, fmt.Errorf("linux: %s: not an ELF program: %w", path, err)
	}
	if e.Class != elf.ELFCLASS64 || e.Machine != elf.EM_X86_64 {
		return nil, fmt.Errorf("linux: %s: %v %v: want a 64-bit x86-64 program", path, e.Class, e.Machine)
	}
	if e.Type != elf.ET_EXEC && e.Type != elf.ET_DYN {
		return nil, fmt.Errorf("linux: %s: %v: want an executable", path, e.Type)
	}
	return e, nil
}

// loadInterpreter maps the dynamic linker, which then starts the program.
func (p *Process) loadInterpreter(img *image, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("linux: interpreter: %w", err)
	}
	defer f.Close()
	e, err := openELF(f, path)
	if err != nil {
		return err
	}
	if e.Type != elf.ET_DYN {
		return fmt.Errorf("linux: interpreter %s: %v: want a shared object", path, e.Type)
	}
	low, high := span(e)
	base, errno := p.AS.pick(0, high-low)
	if errno != 0 {
		return fmt.Errorf("linux: interpreter %s: no room for %d bytes", path, high-low)
	}
	img.base = base - low
	if _, err := p.mapImage(f, path, e, img.base); err != nil {
		return err
	}
	img.start = e.Entry + img.base
	return nil
}

// span returns the page-aligned range of addresses that e wants.
func span(e *elf.File) (low, high uint64) {
	low = ^uint64(0)
	for _, ph := range e.Progs {
		if ph.Type == elf.PT_LOAD {
			low = min(low, ph.Vaddr&^pageMask)
			high = max(high, up(ph.Vaddr+ph.Memsz))
		}
	}
	return min(low, high), high
}

// programHeaders tells where the program headers are in memory.
func programHeaders(e *elf.File, bias uint64) (addr uint64, size, n int) {
	const entry, offset = 56, 64 // Elf64_Phdr; where it follows the header
	for _, ph := range e.Progs {
		if ph.Type == elf.PT_PHDR {
			return ph.Vaddr + bias, entry, len(e.Progs)
		}
	}
	for _, ph := range e.Progs {
		if ph.Type == elf.PT_LOAD && ph.Off == 0 {
			return ph.Vaddr + bias + offset, entry, len(e.Progs)
		}
	}
	return 0, entry, len(e.Progs)
}

// mapImage maps the segments of e at bias and returns the end of the last.
func (p *Process) mapImage(f *os.File, path string, e *elf.File, bias uint64) (uint64, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	fd := int(f.Fd())
	var end uint64
	for _, ph := range e.Progs {
		if ph.Type != elf.PT_LOAD {
			continue
		}
		start := ph.Vaddr + bias
		if start < mmapLow || ph.Memsz > taskSize || start+ph.Memsz > taskSize || ph.Filesz > ph.Memsz {
			return 0, fmt.Errorf("linux: %s: segment at %#x of %d bytes: outside of user memory", path, start, ph.Memsz)
		}
		if ph.Off&pageMask != start&pageMask {
			return 0, fmt.Errorf("linux: %s: segment at %#x: offset %#x isn't congruent", path, start, ph.Off)
		}
		prot := protOf(ph.Flags)
		at := start &^ pageMask
		fileEnd, memEnd := start+ph.Filesz, start+ph.Memsz
		end = max(end, memEnd)
		if ph.Filesz > 0 {
			b, errno := p.AS.fileBacking(fd, abs)
			if errno != 0 {
				return 0, fmt.Errorf("linux: %s: %w", path, errno)
			}
			p.AS.place(&vma{start: at, end: up(fileEnd), prot: prot, back: b, off: ph.Off &^ pageMask})
			if memEnd > fileEnd && fileEnd&pageMask != 0 && prot&unix.PROT_WRITE != 0 {
				// To the end of the page: the dynamic linker uses what follows.
				if errno := p.AS.write(nil, fileEnd, make([]byte, up(fileEnd)-fileEnd)); errno != 0 {
					return 0, fmt.Errorf("linux: %s: segment at %#x: %w", path, start, errno)
				}
			}
			at = up(fileEnd)
		}
		if up(memEnd) > at {
			p.AS.place(&vma{start: at, end: up(memEnd), prot: prot})
		}
	}
	if end == 0 {
		return 0, fmt.Errorf("linux: %s: nothing to load", path)
	}
	p.hooks.Module(moduleOf(fd, abs, emulate.Addr(bias), e))
	return end, nil
}

func protOf(f elf.ProgFlag) int {
	prot := 0
	if f&elf.PF_R != 0 {
		prot |= unix.PROT_READ
	}
	if f&elf.PF_W != 0 {
		prot |= unix.PROT_WRITE
	}
	if f&elf.PF_X != 0 {
		prot |= unix.PROT_EXEC
	}
	return prot
}

// scriptLine reads the first line of a script: its interpreter and the one
// argument that stands behind it.
func scriptLine(head []byte) (name, arg string, ok bool) {
	s, ok := strings.CutPrefix(string(head), "#!")
	if !ok {
		return "", "", false
	}
	s, _, _ = strings.Cut(s, "\n")
	s = strings.Trim(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		s, arg = s[:i], strings.Trim(s[i:], " \t")
	}
	return s, arg, s != ""
}

// loadScript loads the interpreter that the first line of a script names.
func (p *Process) loadScript(f *os.File, path string, depth int) (*image, error) {
	if depth >= maxScripts {
		return nil, fmt.Errorf("linux: %s: scripts nest deeper than %d", path, maxScripts)
	}
	head := make([]byte, 256)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("linux: %s: %w", path, err)
	}
	name, arg, ok := scriptLine(head[:n])
	if !ok {
		return nil, fmt.Errorf("linux: %s: #! without an interpreter", path)
	}
	argv := []string{name}
	if arg != "" {
		argv = append(argv, arg)
	}
	argv = append(argv, path)
	if len(p.argv) > 1 {
		argv = append(argv, p.argv[1:]...)
	}
	p.argv = argv
	p.exe = realPath(name)
	return p.loadProgram(name, depth+1)
}
