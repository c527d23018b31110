package record

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/hwmodel"
)

func TestWhatCantBeRecordedIsAnError(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no program\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "t.ttd")
	none := func(linux.Module) []emulate.Addr { return nil }
	for _, c := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"nothing", Config{}, "a program"},
		{"no program", Config{Output: out, Argv: []string{dir + "/none"}}, "no such file"},
		{"not in PATH", Config{Output: out, Argv: []string{"no-such-program-here"}}, "not found"},
		{"text", Config{Output: out, Argv: []string{text}}, "text"},
		{"output", Config{Output: dir + "/none/t.ttd", Argv: []string{"true"}}, "none"},
		{"schedule", Config{Output: out, Argv: []string{"true"}, Schedule: "fair"}, "fair"},
		{"clock", Config{Output: out, Argv: []string{"true"}, Clock: "sun"}, "sun"},
		{"protocol", Config{Output: out, Argv: []string{"true"}, Protocol: "X"}, "X"},
		{"cores", Config{Output: out, Argv: []string{"true"}, Cores: 1000}, "1000"},
		{"cache", Config{Output: out, Argv: []string{"true"}, L1: hwmodel.Geometry{Size: 1000, Ways: 3}}, "1000"},
		{"ccp of pages", Config{Output: out, Argv: []string{"true"}, LogMode: "ccp", ReadLog: "page"}, "read log page"},
		{"a ring of ccp", Config{Output: out, Argv: []string{"true"}, LogMode: "ccp:readers", Ring: 1 << 20}, "a ring with log mode ccp:readers"},
		{"a ring of pages", Config{Output: out, Argv: []string{"true"}, ReadLog: "page", Ring: 1 << 20}, "a ring with read log page"},
		{"parts of ccp", Config{Output: out, Argv: []string{"true"}, LogMode: "ccp", Select: none}, "selected with log mode ccp"},
		{"parts of pages", Config{Output: out, Argv: []string{"true"}, ReadLog: "page", Select: none}, "selected with read log page"},
		{"parts in a ring", Config{Output: out, Argv: []string{"true"}, Ring: 1 << 20, Select: none}, "selected with a ring"},
	} {
		_, err := Run(context.Background(), c.cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, expected one about %q", c.name, err, c.want)
		}
		if left, _ := filepath.Glob(out + "*"); len(left) > 0 {
			t.Errorf("%s: leaves %s behind", c.name, left)
		}
	}
}
