package replay_test

import (
	"bytes"
	"context"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/racesim/racesim/emulate/record"
)

// text returns n bytes that compress like text.
func text(n int) []byte {
	r := rand.New(rand.NewSource(1))
	words := make([][]byte, 500)
	for i := range words {
		w := make([]byte, 2+r.Intn(9))
		for k := range w {
			w[k] = 'a' + byte(r.Intn(26))
		}
		words[i] = w
	}
	var b bytes.Buffer
	for b.Len() < n {
		b.Write(words[r.Intn(1+r.Intn(len(words)))])
		b.WriteByte(" \n"[r.Intn(12)/11])
	}
	return b.Bytes()[:n]
}

func TestRealProgramsReplay(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(in, text(400_000), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{
		{"gzip", "-c", in},
		{"pigz", "-p2", "-c", in},
		{"xz", "-T2", "-1", "--block-size=200000", "-c", in},
		{"zstd", "-T2", "-q", "-c", in},
		{"pbzip2", "-p2", "-b1", "-c", in},
		{"sort", "--parallel=2", in},
		{"perl", "-e", `my %h; $h{$_ % 100} += $_ for 1..5000; print join(",", map {$h{$_}} sort keys %h), "\n"`},
	} {
		t.Run(argv[0], func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Skipf("%s isn't installed", argv[0])
			}
			if testing.Short() {
				t.Skip("a second each")
			}
			want, status := native(t, argv...)
			if argv[0] == "perl" {
				t.Setenv("PERL_HASH_SEED", "0")
				want, status = native(t, argv...)
			}
			path, out, res := recorded(t, record.Config{Seed: 11}, argv...)
			if out != want || res.Status != status {
				t.Errorf("%d bytes of output, status %d; native %d bytes, status %d", len(out), res.Status, len(want), status)
			}
			s := open(t, path)
			v, err := s.Verify(context.Background(), 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v.Instructions != res.Instructions || v.CutOff != 0 {
				t.Errorf("replayed %+v, recorded %+v", v, res)
			}
			if bits := float64(res.Bytes) * 8 / float64(res.Instructions); bits > 1 && res.Instructions > 20_000_000 {
				t.Errorf("%.2f bits per instruction", bits)
			}
		})
	}
}
