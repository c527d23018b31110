package racesim_test

import (
	"strings"
	"testing"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/report"
)

// A system call that the recording doesn't have ends an experiment, and the
// report says how to go on; with an answer it goes on.
func TestSystemCallsAreAnsweredByTheUser(t *testing.T) {
	line := racesim.Load{File: "gap.c", Line: 13, Value: 1}
	tried := func(o racesim.AnalyzeOptions) *report.Experiment {
		o.Loads = []racesim.Load{line}
		r, _ := analysed(t, "testdata/models/gap.c", 1, o)
		for i := range r.Races {
			for k := range r.Races[i].Experiments {
				if x := &r.Races[i].Experiments[k]; strings.HasSuffix(x.Load, "gap.c:13") && x.Replacement == "1" {
					return x
				}
			}
		}
		t.Fatal("the load isn't tried")
		return nil
	}
	if x := tried(racesim.AnalyzeOptions{}); !strings.Contains(x.Detail, "--syscall read=…") {
		t.Errorf("without an answer: %q", x.Detail)
	}
	nr, a, err := racesim.ParseAnswer(`read="bob"`)
	if err != nil {
		t.Fatal(err)
	}
	x := tried(racesim.AnalyzeOptions{Answers: map[uint64][]overlay.Answer{nr: {a}}})
	named := false
	for _, o := range x.Outputs {
		named = named || strings.HasPrefix(o.Name, "name")
	}
	if !named || !strings.Contains(x.Detail, "the answer given for read") {
		t.Errorf("with an answer: %+v", x)
	}
}

func TestAnswersAreRead(t *testing.T) {
	for _, c := range []struct {
		text string
		nr   uint64
		ret  int64
		data string
		err  string
	}{
		{"read=0", 0, 0, "", ""},
		{"accept=EAGAIN", 43, -11, "", ""},
		{"ioctl=-25", 16, -25, "", ""},
		{`read="a,\n"`, 0, 0, "a,\n", ""},
		{"read", 0, 0, "", "want NAME=RESULT"},
		{"reed=1", 0, 0, "", "no system call reed"},
		{`open="x"`, 0, 0, "", "fills no buffer"},
		{"read=many", 0, 0, "", "neither an integer"},
		{`read="x`, 0, 0, "", "double quotes"},
	} {
		nr, a, err := racesim.ParseAnswer(c.text)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, expected one about %q", c.text, err, c.err)
			}
		} else if err != nil || nr != c.nr || a.Ret != c.ret || string(a.Data) != c.data {
			t.Errorf("%s: %d %+v, %v", c.text, nr, a, err)
		}
	}
}
