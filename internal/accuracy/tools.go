package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/racesim/racesim/report"
)

// A tool looks for data races in programs.
type tool struct {
	name, title string
	flags       []string // further ones for the compiler
	run         func(p *plan, bin string, args []string) outcome
}

// An outcome is what a tool said of a case in all its runs.
type outcome struct {
	race   bool
	failed string         // why a run told nothing
	said   map[string]int // racesim: in how many runs the worst verdict was this one
	cpu    time.Duration  // user and system
	runs   int
}

func (o *outcome) text() string {
	switch {
	case o.failed != "":
		return "failed"
	case o.race:
		return "race"
	}
	return "-"
}

// tool returns the tool of that name, nil if it isn't installed.
func (p *plan) tool(name string) (*tool, error) {
	switch name {
	case "racesim":
		return &tool{name: name, title: fmt.Sprintf("racesim, any of %d seeds", p.seeds), run: runRacesim}, nil
	case "tsan":
		return &tool{name: name, title: fmt.Sprintf("ThreadSanitizer (gcc), any of %d runs", p.repeat), flags: []string{"-fsanitize=thread"}, run: runTSan}, nil
	case "helgrind", "drd":
		if _, err := exec.LookPath("valgrind"); err != nil {
			fmt.Fprintf(os.Stderr, "valgrind is not installed: %s is left out\n", name)
			return nil, nil
		}
		if name == "drd" {
			return &tool{name: name, title: "DRD, stack variables too", run: runValgrind("Conflicting ", "--tool=drd", "--check-stack-var=yes")}, nil
		}
		return &tool{name: name, title: "Helgrind", run: runValgrind("Possible data race", "--tool=helgrind")}, nil
	}
	return nil, fmt.Errorf("no tool is called %q", name)
}

// start runs a command in an empty folder and returns what it wrote to stderr.
// The error says that it took too long or couldn't be started.
func (o *outcome) start(p *plan, env []string, argv ...string) (errs []byte, status int, err error) {
	dir, err := os.MkdirTemp(p.scratch, "run-")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	var b bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stderr, cmd.Env = dir, &b, append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	late := time.AfterFunc(p.timeout, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	cmd.Wait()
	o.runs++
	o.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if !late.Stop() {
		return b.Bytes(), 0, fmt.Errorf("it took more than %v", p.timeout)
	}
	return b.Bytes(), cmd.ProcessState.ExitCode(), nil
}

func runTSan(p *plan, bin string, args []string) outcome {
	var o outcome
	for range p.repeat {
		errs, _, err := o.start(p, []string{"TSAN_OPTIONS=report_thread_leaks=0"}, append([]string{bin}, args...)...)
		if bytes.Contains(errs, []byte("ThreadSanitizer: data race")) {
			o.race = true
		} else if err != nil {
			o.failed = err.Error()
		} else if i := bytes.Index(errs, []byte("FATAL: ThreadSanitizer")); i >= 0 {
			o.failed = string(errs[i:min(len(errs), i+80)])
		}
	}
	if o.race {
		o.failed = ""
	}
	return o
}

func runValgrind(sign string, flags ...string) func(p *plan, bin string, args []string) outcome {
	return func(p *plan, bin string, args []string) outcome {
		var o outcome
		errs, _, err := o.start(p, nil, append(append(append([]string{"valgrind"}, flags...), bin), args...)...)
		o.race = bytes.Contains(errs, []byte(sign))
		switch {
		case o.race:
		case err != nil:
			o.failed = err.Error()
		case !bytes.Contains(errs, []byte("ERROR SUMMARY")):
			o.failed = "it gave no summary"
		}
		return o
	}
}

// verdicts from the mildest to the worst.
var verdicts = []string{"none", string(report.Synchronisation), string(report.Benign), string(report.Unknown), string(report.Harmful)}

func runRacesim(p *plan, bin string, args []string) outcome {
	o := outcome{said: map[string]int{}}
	for seed := 1; seed <= p.seeds; seed++ {
		worst, err := o.racesim(p, seed, bin, args)
		if err != nil {
			o.failed = err.Error()
			continue
		}
		o.said[verdicts[worst]]++
		o.race = o.race || worst >= 2
	}
	if o.race {
		o.failed = ""
	}
	return o
}

// racesim runs racesim once and returns the worst verdict.
func (o *outcome) racesim(p *plan, seed int, bin string, args []string) (int, error) {
	out, err := os.MkdirTemp(p.scratch, "report-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(out)
	file := filepath.Join(out, "report.json")
	argv := append([]string{p.racesim, "test", "--format", "json", "--seed", strconv.Itoa(seed), "-o", file, "--trace", filepath.Join(out, "t.ttd"), "--", bin}, args...)
	errs, status, err := o.start(p, nil, argv...)
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("status %d, no report: %s", status, bytes.TrimSpace(errs[max(0, len(errs)-200):]))
	}
	var r report.Report
	if err := json.Unmarshal(text, &r); err != nil {
		return 0, err
	}
	worst := 0
	for i := range r.Races {
		for k, v := range verdicts {
			if string(r.Races[i].Verdict) == v {
				worst = max(worst, k)
			}
		}
	}
	return worst, nil
}
