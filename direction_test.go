package racesim_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// layers lists the packages so that each imports only from earlier ones
// (ARCHITECTURE.md, "The map").
var layers = []string{
	"traces", "hwmodel", "emulate", "emulate/x86", "emulate/linux", "emulate/replay", "emulate/record", "emulate/overlay",
	"funcs", "races", "races/detect", "loadsub", "classify", "report", "checkers", "", "cmd/racesim",
}

func TestImportsPointUpwards(t *testing.T) {
	const module = "github.com/racesim/racesim"
	rank := map[string]int{}
	for i, l := range layers {
		rank[l] = i
	}
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); n == "testdata" || n == "examples" || n == "docs" || (n != "." && strings.HasPrefix(n, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if dir == "." {
			dir = ""
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(dir, "internal") || strings.Contains(dir, "/internal/") {
			return nil
		}
		from, known := rank[dir]
		if !known {
			t.Errorf("%s: package %q is not on the map; add it to ARCHITECTURE.md and to layers", path, dir)
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, im := range f.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			if p != module && !strings.HasPrefix(p, module+"/") {
				continue
			}
			to := strings.TrimPrefix(strings.TrimPrefix(p, module), "/")
			if strings.HasPrefix(to, "internal") {
				continue
			}
			if rank[to] >= from {
				t.Errorf("%s imports %q, which is not above %q", path, to, dir)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
