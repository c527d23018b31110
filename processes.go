package racesim

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/racesim/racesim/report"
	"github.com/racesim/racesim/traces"
)

// Traces lists the traces of a recording: path itself if it is a file, or, if
// it is the folder of a recording with children, the trace of every process,
// the first one first.
func Traces(path string) ([]string, error) {
	if !isDir(path) {
		return []string{path}, nil // Open says what is wrong with it
	}
	files, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	type trace struct {
		pid  int
		name string
	}
	var l []trace
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), traces.IncompleteSuffix)
		if pid, err := strconv.Atoi(strings.TrimSuffix(name, traces.Suffix)); err == nil && strings.HasSuffix(name, traces.Suffix) {
			l = append(l, trace{pid, f.Name()})
		}
	}
	if len(l) == 0 {
		return nil, fmt.Errorf("%s: no traces of processes are in this folder", path)
	}
	sort.Slice(l, func(i, j int) bool { return l[i].pid < l[j].pid })
	var paths []string
	for _, t := range l {
		paths = append(paths, filepath.Join(path, t.name))
	}
	return paths, nil
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// alone is OpenAlone for each and openAll.
func alone(ctx context.Context) func(path string) (*Trace, error) {
	return func(path string) (*Trace, error) { return OpenAlone(ctx, path) }
}

// each opens the traces of a recording one after the other.
func each(path string, open func(string) (*Trace, error), f func(t *Trace) error) error {
	paths, err := Traces(path)
	if err != nil {
		return err
	}
	for _, p := range paths {
		t, err := open(p)
		if err != nil {
			return err
		}
		err = f(t)
		t.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Process returns the number of the process whose trace it is and that of the
// one that forked it (0: none did); 0, 0 if it is a recording's only trace.
func (t *Trace) Process() (pid, parent int) {
	h := t.r.Header()
	return int(h.PID), int(h.Parent)
}

// Program is the command line of the program that the process executed last.
func (t *Trace) Program() string {
	argv := t.r.Header().Argv
	if e := t.s.Execs(); len(e) > 0 {
		argv = e[len(e)-1]
	}
	return strings.Join(argv, " ")
}

// VerifyAll is Trace.Verify for all processes of a recording.
func VerifyAll(path string, workers int) (string, error) {
	var b strings.Builder
	err := each(path, Open, func(t *Trace) error {
		pid, _ := t.Process()
		if t.Empty() {
			fmt.Fprintf(&b, "process %d: no thread is in the trace: %s\n", pid, t.Incomplete())
			return nil
		}
		text, err := t.Verify(workers)
		if err != nil {
			return fmt.Errorf("%s: %w", t.path(), err)
		}
		fmt.Fprintf(&b, "process %d: %s", pid, text)
		if d := t.Damaged(); d != "" {
			return fmt.Errorf("%s: damaged: %s", t.path(), d)
		}
		return nil
	})
	return b.String(), err
}

// WriteInfoAll writes what processes are in a recording, for people.
func WriteInfoAll(w io.Writer, path string) error {
	var b strings.Builder
	var n, threads int
	var total, bytes uint64
	err := each(path, Open, func(t *Trace) error {
		pid, parent := t.Process()
		var instr uint64
		ids := t.s.Threads()
		for _, id := range ids {
			instr += uint64(t.s.Last(id) - t.s.First(id))
		}
		end := "not in the trace"
		if x := t.s.Exit(); x != nil && x.Signal != 0 {
			end = fmt.Sprintf("signal %d", x.Signal)
		} else if x != nil {
			end = fmt.Sprintf("status %d", x.Status)
		}
		program := t.Program()
		if len(program) > maxProgram {
			program = program[:maxProgram] + "…"
		}
		fmt.Fprintf(&b, "%-8d %8d %8d %15d %12d  %-16s  %s\n", pid, parent, len(ids), instr, t.r.FileSize(), end, program)
		n, threads, total, bytes = n+1, threads+len(ids), total+instr, bytes+uint64(t.r.FileSize())
		return nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "recording    %s: %s, %s, %d instructions, %d bytes\n\n%-8s %8s %8s %15s %12s  %-16s  %s\n%s\nracesim info %s shows one of them\n",
		path, processes(n), plural(uint64(threads), "thread"), total, bytes, "process", "parent", "threads", "instructions", "bytes", "ended", "program", b.String(),
		filepath.Join(path, "PROCESS"+traces.Suffix))
	return err
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

// maxProgram is how much is shown of a command line.
const maxProgram = 100

// analyzeAll analyses every process of a recording by itself and unites what
// was found.
func analyzeAll(ctx context.Context, path string, o AnalyzeOptions) (*report.Report, error) {
	var reports []*report.Report
	err := each(path, alone(ctx), func(t *Trace) error {
		if t.Empty() {
			return nil
		}
		r, err := t.Analyze(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", t.path(), err)
		}
		pid, _ := t.Process()
		for i, n := range r.Notes {
			r.Notes[i] = fmt.Sprintf("process %d: %s", pid, n)
		}
		reports = append(reports, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(reports) == 0 {
		return nil, fmt.Errorf("%s: no thread is in the traces", path)
	}
	out := unite(reports)
	if o.CheckersOnly {
		return out, nil
	}
	ts, err := openAll(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, t := range ts {
			t.Close()
		}
	}()
	found, note, err := between(ctx, ts, o)
	if err != nil {
		return nil, err
	}
	if note != "" {
		out.Notes = append(out.Notes, note)
	}
	out.Races = append(out.Races, found...)
	uniqueIDs(out.Races)
	out.Sort()
	out.Summarise()
	return out, nil
}

// openAll opens the traces of a recording.
func openAll(ctx context.Context, path string) (ts []*Trace, err error) {
	paths, err := Traces(path)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		t, err := OpenAlone(ctx, p)
		if err != nil {
			for _, t := range ts {
				t.Close()
			}
			return nil, err
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// unite makes one report of those of a recording's processes. What several
// processes show, having been forked in the middle of it, is one race.
func unite(reports []*report.Report) *report.Report {
	out := Merge(reports)
	if len(reports) == 1 {
		return out
	}
	out.Summary.Runs = 0
	out.Summary.Threads = 0
	for _, r := range reports {
		out.Summary.Threads += r.Summary.Threads
	}
	for i := range out.Races {
		out.Races[i].Seen = 0
	}
	for i := range out.Findings {
		out.Findings[i].Seen = 0
	}
	out.Sort()
	out.Summarise()
	return out
}
