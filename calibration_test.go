package racesim

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/report"
)

// Of recorded instances that a model hasn't seen, about one in a hundred is
// called abnormal.
func TestOpinionsOnRecordedInstancesAreCalibrated(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "guest")
	if out, err := exec.Command("gcc", "-g", "-O1", "-pthread", "-o", bin, "testdata/models/kinds.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	abnormal, asked := 0, 0
	for _, seed := range []uint64{1} {
		trace := filepath.Join(dir, "t.ttd")
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		if _, err := Record(context.Background(), RecordConfig{Output: trace, Argv: []string{bin}, Seed: seed, Stdout: null}); err != nil {
			t.Fatal(err)
		}
		tr, err := Open(trace)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		a := &analysis{t: tr, ms: tr.modules(), rep: &report.Report{}}
		if err := a.detect(context.Background(), false); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"draw", "classify", "push", "pop", "mean"} {
			f := a.ms.FuncsNamed(name)[0]
			s := a.site(&loadsub.Place{Func: f, Goal: overlay.Goal{End: overlay.EndReturn, Result: loadsub.ResultRegs(a.ms, f)}})
			if err := a.collect(context.Background(), map[string]*site{s.key(): s}, nil); err != nil {
				t.Fatal(err)
			}
			if len(s.samples) < 100 {
				t.Fatalf("%s: %d instances", name, len(s.samples))
			}
			// One section says which registers count.
			th, _, err := a.pass.Seek(s.samples[0].thread, s.samples[0].start)
			if err != nil {
				t.Fatal(err)
			}
			sec, err := overlay.Capture(th.Snapshot(), overlay.Goal{End: overlay.EndReturn, SP: s.samples[0].sp, Result: s.res})
			if err != nil {
				t.Fatal(err)
			}
			all := features(s.samples, sec)
			for i := range all {
				learnt := append(slices.Clone(all[:i]), all[i+1:]...)
				asked++
				if o := classify.Learn(learnt).Judge(all[i]); !o.Normal {
					abnormal++
					t.Logf("seed %d: %s: %s (%.3f)", seed, name, o.Why, o.Score)
				}
			}
		}
	}
	share := float64(abnormal) / float64(asked)
	t.Logf("%d of %d held-out instances are called abnormal: %.4f", abnormal, asked, share)
	if limit := 0.01 + 3*math.Sqrt(0.01/float64(asked)); share > limit {
		t.Errorf("a share of %.4f is called abnormal; want %.4f at most", share, limit)
	}
}
