package funcs

import (
	"bytes"
	"debug/elf"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
)

// separate returns o's separate debug file, or nil. It looks where gdb does:
// by build id below the debug directories, then by .gnu_debuglink.
func (m *Module) separate() *elf.File {
	o := m.obj
	o.debugOnce.Do(func() {
		if st := m.ms.stored(m.Image, true); st != nil && st.Content != nil {
			f, err := elf.NewFile(st.Content)
			if err == nil {
				o.debugFile, o.debugPath = f, st.Path
				return
			}
			m.ms.note("%s: debug file %s, in the trace, can't be used: %v", o.path, st.Path, err)
		}
		o.debugFile, o.debugPath = o.findDebug(m.ms.opt.DebugDirs, m.ms.note)
	})
	return o.debugFile
}

// defaultDebugDirs are the roots of separate debug files.
var defaultDebugDirs = []string{"/usr/lib/debug"}

// DebugFile returns the separate debug file of an ELF file, "" if it has none
// here or needs none.
func DebugFile(path string) string {
	o, err := openObject(path)
	if err != nil {
		return ""
	}
	defer o.close()
	if o.f.Section(".debug_info") != nil || o.f.Section(".zdebug_info") != nil {
		return ""
	}
	f, found := o.findDebug(defaultDebugDirs, func(string, ...any) {})
	if f != nil {
		f.Close()
	}
	return found
}

// findDebug opens the separate debug file that fits, nil if there is none.
func (o *object) findDebug(dirs []string, note func(string, ...any)) (*elf.File, string) {
	var tried []string
	if len(o.buildID) > 2 {
		for _, d := range dirs {
			tried = append(tried, filepath.Join(d, ".build-id", o.buildID[:2], o.buildID[2:]+".debug"))
		}
	}
	name, crc := debugLink(o.f)
	links := len(tried)
	if name != "" {
		dir := filepath.Dir(o.path)
		tried = append(tried, filepath.Join(dir, name), filepath.Join(dir, ".debug", name))
		for _, d := range dirs {
			tried = append(tried, filepath.Join(d, dir, name))
		}
	}
	for i, p := range tried {
		f, err := elf.Open(p)
		if err != nil {
			if !os.IsNotExist(err) {
				note("%s: debug file %s can't be used: %v", o.path, p, err)
			}
			continue
		}
		if id := buildID(f); id != "" && o.buildID != "" && id != o.buildID {
			note("%s: debug file %s is for another build (%s, want %s)", o.path, p, id, o.buildID)
			f.Close()
			continue
		}
		if i >= links && o.buildID == "" && !sameCRC(p, crc) {
			note("%s: debug file %s is for another build (its checksum differs)", o.path, p)
			f.Close()
			continue
		}
		return f, p
	}
	return nil, ""
}

func debugLink(f *elf.File) (name string, crc uint32) {
	s := f.Section(".gnu_debuglink")
	if s == nil || s.Size > 4096 {
		return "", 0
	}
	b, err := s.Data()
	if err != nil {
		return "", 0
	}
	i := bytes.IndexByte(b, 0)
	if i <= 0 {
		return "", 0
	}
	j := (i + 4) &^ 3
	if j+4 > len(b) {
		return "", 0
	}
	name = string(b[:i])
	if strings.ContainsRune(name, '/') {
		return "", 0
	}
	return name, f.ByteOrder.Uint32(b[j:])
}

func sameCRC(path string, want uint32) bool {
	b, err := os.ReadFile(path)
	return err == nil && crc32.ChecksumIEEE(b) == want
}
