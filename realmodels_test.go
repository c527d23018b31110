package racesim

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/internal/plot"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/report"
)

// make calibrate-models sets it: real programs are recorded, and the table and
// the plot in docs are made anew.
var calibrateModels = flag.Bool("calibrate-models", false, "measure models on real programs and write docs/models.md")

// A realProgram is one whose functions are learnt.
type realProgram struct {
	name string
	argv []string
	// drive talks to the program while it runs, and ends it.
	drive func(dir string) error
}

func realPrograms(t *testing.T, dir string) []realProgram {
	r := rand.New(rand.NewPCG(1, 1))
	var text, lines, sql strings.Builder
	words := strings.Fields("trace packet chunk key frame position block line window event order vector clock epoch shadow memory conflict race instance")
	for range 30_000 {
		text.WriteString(words[r.IntN(len(words))])
		text.WriteByte(" \n"[r.IntN(8)/7])
	}
	for range 15_000 {
		fmt.Fprintf(&lines, "%d %s\n", r.IntN(1<<30), words[r.IntN(len(words))])
	}
	sql.WriteString("create table t(a integer primary key, b text, c real); create index i on t(b);\n")
	for i := range 300 {
		fmt.Fprintf(&sql, "insert into t values(%d, '%s %d', %d * 1.5);\n", i, words[r.IntN(len(words))], r.IntN(100), r.IntN(1000))
		if i%10 == 0 {
			fmt.Fprintf(&sql, "select b, sum(c), count(*) from t where a > %d group by b order by 2;\nupdate t set c = c + 1 where a %% 7 = %d;\n", r.IntN(i+1), i%7)
		}
	}
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	shop := filepath.Join(dir, "shop")
	if out, err := exec.Command("g++", "-g", "-O1", "-pthread", "-o", shop, "testdata/models/shop.cpp").CombinedOutput(); err != nil {
		t.Fatalf("g++: %v\n%s", err, out)
	}
	kinds := filepath.Join(dir, "kinds")
	if out, err := exec.Command("gcc", "-g", "-O1", "-pthread", "-o", kinds, "testdata/models/kinds.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	socket := filepath.Join(dir, "redis")
	all := []realProgram{
		{name: "pigz", argv: []string{"pigz", "-p", "3", "-b", "128", "-c", file("text", text.String())}},
		{name: "sort --parallel=2", argv: []string{"sort", "--parallel=2", "-S", "8M", "-n", file("lines", lines.String())}},
		{name: "sqlite3", argv: []string{"sqlite3", ":memory:", ".read " + file("sql", sql.String())}},
		{name: "xz -T2", argv: []string{"xz", "-0", "-T2", "--block-size=100KiB", "-c", filepath.Join(dir, "text")}},
		{name: "redis-server", argv: []string{"redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--daemonize", "no"}, drive: func(string) error {
			return driveRedis(socket)
		}},
		{name: "shop.cpp", argv: []string{shop}},
		{name: "kinds.c", argv: []string{kinds}},
	}
	return slices.DeleteFunc(all, func(p realProgram) bool {
		_, err := exec.LookPath(p.argv[0])
		if err != nil {
			t.Logf("%s isn't installed: left out", p.argv[0])
		}
		return err != nil
	})
}

func driveRedis(socket string) error {
	var err error
	for range 300 {
		time.Sleep(100 * time.Millisecond)
		if err = exec.Command("redis-cli", "-s", socket, "ping").Run(); err == nil {
			break
		}
	}
	if err == nil {
		err = exec.Command("redis-benchmark", "-s", socket, "-c", "4", "-n", "400", "-r", "1000", "-q", "-t", "set,get,incr,lpush,sadd,zadd").Run()
	}
	exec.Command("redis-cli", "-s", socket, "shutdown", "nosave").Run()
	return err
}

// heldOut are the scores that instances got from models which hadn't seen them.
type heldOut struct {
	functions int
	scores    []float64 // by models of 99 instances or more
	abnormal  int       // of all
	expected  float64   // how many may be, by the number of instances that models had
	asked     int
	worst     map[string]int
}

func (h *heldOut) ask(m *classify.Model, s classify.Sample, name string) {
	o := m.Judge(s)
	if !o.Known {
		return
	}
	h.asked++
	h.expected += math.Max(classify.Abnormal, 1/float64(m.Samples+1))
	if m.Samples >= 99 {
		h.scores = append(h.scores, o.Score)
	}
	if !o.Normal {
		h.abnormal++
		h.worst[name+": "+o.Why]++
	}
}

func (h *heldOut) share(level float64) float64 {
	n := 0
	for _, s := range h.scores {
		if s <= level {
			n++
		}
	}
	return float64(n) / math.Max(1, float64(len(h.scores)))
}

// Of instances of functions of real programs that a model hasn't seen, about
// one in a hundred is called abnormal at 1 %.
func TestModelsAreCalibratedOnRealPrograms(t *testing.T) {
	if !*calibrateModels {
		t.Skip("make calibrate-models measures it")
	}
	dir := t.TempDir()
	levels := []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}
	within := &plot.Diagram{Title: "Held-out instances, same recording", X: "score", Y: "share with that score or less", Log: true, Min: 0.005, Ticks: []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}}
	across := *within
	across.Title = "Instances of another recording"
	var b strings.Builder
	b.WriteString("| program | functions | held-out instances | abnormal at 1 % | abnormal, of all | expected | another recording: instances | abnormal at 1 % |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range realPrograms(t, dir) {
		in, out, err := measureModels(dir, p)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %.2f %% | %.2f %% | %.2f %% | %d | %.2f %% |\n", p.name, in.functions, in.asked, 100*in.share(0.01),
			100*float64(in.abnormal)/float64(in.asked), 100*in.expected/float64(in.asked), len(out.scores), 100*out.share(0.01))
		for _, x := range []struct {
			h *heldOut
			d *plot.Diagram
		}{{in, within}, {out, &across}} {
			s := plot.Series{Name: fmt.Sprintf("%s (%d)", p.name, len(x.h.scores)), Line: true}
			for _, l := range levels {
				s.Points = append(s.Points, plot.Point{X: l, Y: x.h.share(l)})
			}
			x.d.Series = append(x.d.Series, s)
		}
		for _, x := range []*heldOut{in, out} {
			var why []string
			for w, n := range x.worst {
				why = append(why, fmt.Sprintf("%4d %s", n, w))
			}
			slices.SortFunc(why, func(a, b string) int { return cmp.Compare(b, a) })
			t.Logf("%s: %d of %d abnormal\n%s", p.name, x.abnormal, x.asked, strings.Join(why[:min(len(why), 25)], "\n"))
		}
		n := float64(len(in.scores))
		if share := in.share(0.01); n > 0 && share > 0.01+3*math.Sqrt(0.01/n)+0.005 {
			t.Errorf("%s: a share of %.4f has a score of 0.01 or less", p.name, share)
		}
	}
	t.Logf("\n%s", b.String())
	for name, d := range map[string]*plot.Diagram{"models-held-out": within, "models-another-recording": &across} {
		if err := os.WriteFile("docs/img/"+name+".svg", []byte(d.SVG()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := plot.PutBetween("docs/models.md", "calibration", b.String()); err != nil {
		t.Fatal(err)
	}
}

// measureModels records a program twice and asks models of its functions about
// instances that they haven't seen.
func measureModels(dir string, p realProgram) (in, out *heldOut, err error) {
	in, out = &heldOut{worst: map[string]int{}}, &heldOut{worst: map[string]int{}}
	var as []*analysis
	for seed := range uint64(2) {
		a, err := recordReal(dir, p, seed+1)
		if err != nil {
			return nil, nil, err
		}
		defer a.t.Close()
		as = append(as, a)
	}
	a := as[0]
	fs, err := a.t.Functions(context.Background(), false)
	if err != nil {
		return nil, nil, err
	}
	for _, u := range fs[:min(len(fs), 150)] {
		f := a.ms.FuncAt(u.f.Entry)
		if u.Calls >= 30 {
			a.addSite(&loadsub.Place{Func: f, Goal: overlay.Goal{End: overlay.EndReturn, Result: loadsub.ResultRegs(a.ms, f)}})
		}
	}
	if err := a.collect(context.Background(), a.sites, nil); err != nil {
		return nil, nil, err
	}
	there := map[string]*site{}
	for key, s := range a.sites {
		if f := as[1].ms.FuncAt(s.fn.Entry); f != nil && f.Name == s.fn.Name {
			there[key] = &site{fn: f, res: s.res, pcs: map[uint64]bool{}, seen: map[uint64]map[uint64]int{}, looks: map[look]int{}}
		}
	}
	if err := as[1].collect(context.Background(), there, nil); err != nil {
		return nil, nil, err
	}
	for key, s := range a.sites {
		if len(s.samples) < 30 {
			continue
		}
		// One section says which registers count.
		th, _, err := a.pass.Seek(s.samples[0].thread, s.samples[0].start)
		if err != nil {
			return nil, nil, err
		}
		sec, err := overlay.Capture(th.Snapshot(), overlay.Goal{End: overlay.EndReturn, SP: s.samples[0].sp, Result: s.res})
		if err != nil {
			return nil, nil, err
		}
		in.functions++
		n := len(s.samples)
		all := s.samples
		if o := there[key]; o != nil {
			all = append(slices.Clone(all), o.samples...)
		}
		xs := features(all, sec)
		const asked = 40
		for i := range min(asked, n) {
			k := i * n / min(asked, n)
			in.ask(classify.Learn(append(slices.Clone(xs[:k]), xs[k+1:n]...)), xs[k], s.fn.Name)
		}
		m := classify.Learn(xs[:n])
		others := xs[n:]
		for i := range min(asked, len(others)) {
			out.ask(m, others[i*len(others)/min(asked, len(others))], s.fn.Name)
		}
	}
	return in, out, nil
}

// recordReal records a program and looks through the trace.
func recordReal(dir string, p realProgram, seed uint64) (*analysis, error) {
	trace := filepath.Join(dir, fmt.Sprintf("%d.ttd", seed))
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	driven := make(chan error, 1)
	if p.drive != nil {
		go func() { driven <- p.drive(dir) }()
	} else {
		driven <- nil
	}
	if _, err := Record(context.Background(), RecordConfig{Output: trace, Argv: p.argv, Seed: seed, Stdin: null, Stdout: null, Stderr: null}); err != nil {
		return nil, err
	}
	if err := <-driven; err != nil {
		return nil, fmt.Errorf("its client: %w", err)
	}
	tr, err := Open(trace)
	if err != nil {
		return nil, err
	}
	a := &analysis{t: tr, ms: tr.modules(), rep: &report.Report{}}
	if err := a.detect(context.Background(), false); err != nil {
		tr.Close()
		return nil, err
	}
	return a, nil
}
