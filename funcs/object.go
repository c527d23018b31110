package funcs

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// An object is an opened ELF file together with its separate debug file.
type object struct {
	f       *elf.File
	raw     io.ReaderAt // all of the file
	file    io.Closer   // nil: nothing to close
	path    string
	loads   []elf.ProgHeader
	buildID string
	interp  bool
	needed  bool

	debugOnce sync.Once
	debugFile *elf.File // nil: none
	debugPath string
}

// openModule opens im's file and checks that it is the one recorded.
func openModule(ms *Modules, im Image) *Module {
	m := &Module{Image: im, ms: ms, Kind: moduleKind(im.Path), lo: uint64(im.Base), hi: uint64(im.Base)}
	if im.Size > 0 {
		m.hi = m.lo + uint64(im.Size)
	}
	if im.Path == "" || strings.HasPrefix(im.Path, "[") {
		return m
	}
	st := ms.stored(im, false)
	if st != nil && st.Content != nil {
		o, err := readObject(st.Content, im.Path)
		if err != nil {
			ms.note("%s, in the trace: no symbols: %v", im.Path, err)
			return m
		}
		m.use(o)
		return m
	}
	o, err := openObject(im.Path)
	if err != nil {
		ms.note("%s isn't in the trace, and has no symbols here: %v; record --embed all keeps it in the trace", im.Path, err)
		return m
	}
	if why := changed(o, im, st); why != "" {
		ms.note("%s has changed since the recording (%s): its symbols aren't used; record --embed all keeps it in the trace", im.Path, why)
		o.close()
		return m
	}
	if st == nil && (o.buildID == "" || im.BuildID == "") && writtenLater(im) {
		ms.note("%s has no build id and was written at another time than the recorded file: its symbols may be wrong", im.Path)
	}
	m.use(o)
	return m
}

// use makes o what is known of the module.
func (m *Module) use(o *object) {
	m.obj = o
	lo, hi := ^uint64(0), uint64(0)
	for _, p := range o.loads {
		lo = min(lo, p.Vaddr&^0xfff)
		hi = max(hi, p.Vaddr+p.Memsz)
	}
	if o.f.Type == elf.ET_DYN {
		m.bias = uint64(m.Base)
	}
	m.lo, m.hi = lo+m.bias, hi+m.bias
	m.Static = !o.interp && !o.needed && m.Kind == ModUser
}

func openObject(path string) (*object, error) {
	raw, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := elf.NewFile(raw)
	if err != nil {
		raw.Close()
		return nil, err
	}
	o, err := newObject(f, path)
	if err != nil {
		raw.Close()
		return nil, err
	}
	o.raw, o.file = raw, raw
	return o, nil
}

// readObject is openObject for a file that the trace has.
func readObject(r io.ReaderAt, path string) (*object, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	o, err := newObject(f, path)
	if err == nil {
		o.raw = r
	}
	return o, err
}

func (o *object) close() {
	o.f.Close()
	if o.file != nil {
		o.file.Close()
	}
}

func newObject(f *elf.File, path string) (*object, error) {
	o := &object{f: f, path: path}
	if f.Machine != elf.EM_X86_64 || f.Class != elf.ELFCLASS64 {
		f.Close()
		return nil, fmt.Errorf("an ELF file for %v %v, want a 64-bit x86-64 one", f.Class, f.Machine)
	}
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			o.loads = append(o.loads, p.ProgHeader)
		case elf.PT_INTERP:
			o.interp = true
		}
	}
	if len(o.loads) == 0 {
		f.Close()
		return nil, fmt.Errorf("an ELF file without loadable segments")
	}
	if l, err := f.ImportedLibraries(); err == nil && len(l) > 0 {
		o.needed = true
	}
	o.buildID = buildID(f)
	return o, nil
}

// maxNote bounds the note section that is read for a build id, in bytes.
const maxNote = 1 << 16

// buildID returns the GNU build id of f in hex, or "".
func buildID(f *elf.File) string {
	for _, p := range f.Progs {
		if p.Type != elf.PT_NOTE || p.Filesz > maxNote {
			continue
		}
		b := make([]byte, p.Filesz)
		if _, err := p.ReadAt(b, 0); err != nil && err != io.EOF {
			continue
		}
		if id := findBuildID(b); id != "" {
			return id
		}
	}
	if s := f.Section(".note.gnu.build-id"); s != nil && s.Type == elf.SHT_NOTE && s.Size <= maxNote {
		if b, err := s.Data(); err == nil {
			return findBuildID(b)
		}
	}
	return ""
}

func findBuildID(b []byte) string {
	for len(b) >= 12 {
		nameLen, descLen := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		typ := binary.LittleEndian.Uint32(b[8:])
		b = b[12:]
		n := (uint64(nameLen) + 3) &^ 3
		d := (uint64(descLen) + 3) &^ 3
		if n+d > uint64(len(b)) {
			return ""
		}
		if typ == 3 && bytes.Equal(b[:nameLen], []byte("GNU\x00")) {
			return hex.EncodeToString(b[n : n+uint64(descLen)])
		}
		b = b[n+d:]
	}
	return ""
}

// bytesAt returns up to n bytes of the file's image at file address a.
func (o *object) bytesAt(a uint64, n int) []byte {
	for _, p := range o.f.Progs {
		if p.Type != elf.PT_LOAD || a < p.Vaddr || a >= p.Vaddr+p.Filesz {
			continue
		}
		b := make([]byte, min(uint64(n), p.Vaddr+p.Filesz-a))
		k, err := p.ReadAt(b, int64(a-p.Vaddr))
		if err != nil && err != io.EOF {
			return nil
		}
		return b[:k]
	}
	return nil
}

// executable says whether file address a is in an executable segment.
func (o *object) executable(a uint64) bool {
	for _, p := range o.loads {
		if p.Flags&elf.PF_X != 0 && a >= p.Vaddr && a < p.Vaddr+p.Memsz {
			return true
		}
	}
	return false
}
