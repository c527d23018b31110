package racesim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/hwmodel"
)

// A RecordConfig says what to record and how. Argv and Output must be set.
type RecordConfig struct {
	Output string   // the trace
	Argv   []string // program and arguments; a name without a slash is looked up in PATH
	Env    []string // NAME=value; nil: this process's

	CPU   string // what cpuid reports: v1, v2 or v3; "": the default
	Cores int    // cores, 1 to 64; 0: 4
	// ThreadsPerCore is the number of hardware threads of each core, processing
	// units that share its caches, 1 to 8; 0: 1. Of all cores, at most 64.
	ThreadsPerCore int
	Seed           uint64 // determines schedule and guest randomness
	Schedule       string // random, rr, pct, pct:DEPTH, pct:DEPTH:STEPS; "": random
	Slice          int    // mean instructions between pre-emptions; 0: the default
	Clock          string // virtual, host; "": virtual
	LogMode        string // independent, ccp, ccp:memory, ccp:readers; "": independent
	Children       string // what becomes of forked processes: run (unrecorded), record (into the folder Output), forbid; "": run
	Embed          string // whose files are kept in the trace: own (not the distribution's), all, none; "": own
	Strict         bool   // end where the program asks for what isn't supported, instead of answering ENOSYS
	MemoryLimit    uint64 // bytes; 0: the default
	KeyFrames      uint64 // instructions of a thread between key frames; 0: the default
	L1, LLC        string // private and shared cache for data: size/ways, as 32K/8; "": the default
	L1I            string // a core's cache for code, with which recording takes several times as long; "": none
	CodeLog        string // how code is logged that the program makes: page (whole pages, for all threads), line (by lines that a thread executes and hasn't); "": page
	L2             string // a core's second level, inclusive unless it ends with ":exclusive"; "": none
	TLB            string // of each processing unit: entries/ways, as 1536/12; "": none unless Addresses needs it, then that
	Addresses      string // how lines are named: virtual, or by TLB entries: slot, counter, random; "": virtual
	Protocol       string // coherence: msi, mesi, moesi or mesif; "": mesi
	Accounting     string // who remembers what is logged: threads, lines, units, reserved:WAYS, ways:WAYS; "": threads
	Prefetch       int    // lines that a miss of a cache brings in beside its own
	Select         string // only functions of these names are recorded: patterns separated by commas; "": everything
	Distance       uint64 // instructions after a selected function until recording stops; 0: the default
	Snapshots      string // whole memory in the trace: some of start, end, mark, separated by commas
	Marks          string // annotations: some of time, counters, faults, separated by commas
	Ring           string // keep only the end: SIZE of all threads, or thread:SIZE of each; "": keep all
	MemoryModel    string // which events are orderable: kernel, fence, acqrel, loads; "": fence
	ReadLog        string // how reads are logged: cache, page, none, last, zero, shadow:N; "": cache

	Stdin, Stdout, Stderr *os.File // nil: this process's
	// Signals passes the signals that this process gets on to the guest.
	Signals bool
}

// A RecordResult is how the guest ended.
type RecordResult struct {
	Status       int // exit status
	Signal       int // that killed it, 0: none
	Instructions uint64
	Threads      int
	// Contended is the number of instructions that were executed while two
	// threads could run: the steps of a later "pct:DEPTH:STEPS" schedule.
	Contended uint64
	// Deadlock says that every thread waited for ever. Record returns an error
	// then, too; the trace is good for analysis.
	Deadlock bool
	// Unembedded names files that should be in the trace and aren't, and why.
	Unembedded []string
	// Missed names what the program asked for and was refused because it isn't
	// supported, each with the answer and how often.
	Missed []string
}

// ExitCode is what a shell would show: the status, or 128 and the signal.
func (r RecordResult) ExitCode() int {
	if r.Signal != 0 {
		return 128 + r.Signal
	}
	return r.Status
}

// Check says what is wrong with a configuration, before anything runs. It
// doesn't look at the program or the output file.
func (cfg *RecordConfig) Check() error {
	rc, err := cfg.machine()
	if err != nil {
		return err
	}
	if _, err := rc.Hardware(); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "hwmodel: "))
	}
	if cfg.Schedule != "" {
		if _, err := linux.ParseSchedule(cfg.Schedule); err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "linux: "))
		}
	}
	if _, err := linux.ParseChildren(cfg.Children); err != nil {
		return err
	}
	if _, err := record.ParseEmbed(cfg.Embed); err != nil {
		return err
	}
	if cfg.CPU != "" {
		if _, err := x86.ParseLevel(cfg.CPU); err != nil {
			return err
		}
	}
	if cfg.ReadLog != "" {
		if _, err := hwmodel.ParseReadLog(cfg.ReadLog); err != nil {
			return err
		}
	}
	if _, err := record.ParseSnapshots(cfg.Snapshots); err != nil {
		return err
	}
	if _, err := record.ParseMarks(cfg.Marks); err != nil {
		return err
	}
	if _, _, err := parseRing(cfg.Ring); err != nil {
		return err
	}
	if cfg.MemoryModel != "" {
		if _, err := hwmodel.ParseMemoryModel(cfg.MemoryModel); err != nil {
			return err
		}
	}
	switch {
	case cfg.CodeLog != "" && cfg.CodeLog != record.CodeLogPage && cfg.CodeLog != record.CodeLogLine:
		return fmt.Errorf("log of code %q: want %s or %s", cfg.CodeLog, record.CodeLogPage, record.CodeLogLine)
	case cfg.Clock != "" && cfg.Clock != "virtual" && cfg.Clock != "host":
		return fmt.Errorf("clock %q: want virtual or host", cfg.Clock)
	case cfg.LogMode != "" && !slices.Contains(record.LogModes, cfg.LogMode):
		return fmt.Errorf("log mode %q: want one of %s", cfg.LogMode, strings.Join(record.LogModes, ", "))
	case cfg.Slice < 0:
		return fmt.Errorf("slices of %d instructions: want a positive number, or 0 for the default", cfg.Slice)
	case cfg.KeyFrames > math.MaxInt64:
		return fmt.Errorf("key frames every %d instructions: want at most %d", cfg.KeyFrames, int64(math.MaxInt64))
	}
	return nil
}

// Record runs a program and records it. An error means that the program could
// not be run to its end; what was recorded until then is in the trace.
func Record(ctx context.Context, cfg RecordConfig) (RecordResult, error) {
	if err := cfg.Check(); err != nil {
		return RecordResult{}, err
	}
	if len(cfg.Argv) == 0 {
		return RecordResult{}, errors.New("no program given")
	}
	if err := checkProgram(cfg.Argv[0]); err != nil {
		return RecordResult{}, err
	}
	ring, each, _ := parseRing(cfg.Ring)
	sel, found := selected(cfg.Select)
	rc, _ := cfg.machine()
	rc.Output, rc.Argv, rc.Env, rc.Stdin, rc.Stdout, rc.Stderr = cfg.Output, cfg.Argv, cfg.Env, cfg.Stdin, cfg.Stdout, cfg.Stderr
	rc.CPU, rc.Seed, rc.Schedule, rc.Slice, rc.Clock, rc.Children = cfg.CPU, cfg.Seed, cfg.Schedule, cfg.Slice, cfg.Clock, cfg.Children
	rc.Strict, rc.MemoryLimit, rc.HostSignals = cfg.Strict, cfg.MemoryLimit, cfg.Signals
	rc.Embed, rc.DebugFile = cfg.Embed, funcs.DebugFile
	rc.LogMode, rc.ReadLog, rc.MemoryModel, rc.Marks, rc.Snapshots = cfg.LogMode, cfg.ReadLog, cfg.MemoryModel, cfg.Marks, cfg.Snapshots
	rc.KeyFrameEvery, rc.Ring, rc.RingPerThread = int64(cfg.KeyFrames), ring, each
	rc.Select, rc.SelectNames, rc.SelectDistance = sel, cfg.Select, cfg.Distance
	res, err := record.Run(ctx, rc)
	if err != nil {
		err = stopped(err)
	}
	var d *linux.Deadlock
	if !found() && err == nil {
		err = fmt.Errorf("no function of the program is called %s: nothing of it was recorded", cfg.Select)
	}
	r := RecordResult{Status: res.Status, Signal: res.Signal, Instructions: res.Instructions, Threads: res.Threads, Contended: res.Contended, Deadlock: errors.As(err, &d)}
	r.Unembedded = res.Unembedded
	for _, m := range res.Missed {
		r.Missed = append(r.Missed, fmt.Sprintf("%s answered %s, %s", m.What, m.Answer, plural(uint64(m.N), "time")))
	}
	return r, err
}

// stopped says once, in one line, why and where a recording ended before its
// program.
func stopped(err error) error {
	var at *record.Error
	if !errors.As(err, &at) {
		return err
	}
	where := fmt.Sprintf("thread %d at position %v, pc %v", at.Position.Thread, at.Position, at.PC)
	var u *linux.Unsupported
	var d *linux.Deadlock
	switch {
	case errors.As(err, &u):
		s := fmt.Sprintf("%s isn't supported: %s", u.What, where)
		if u.Why != "" {
			s += ": " + u.Why
		}
		return &wrapped{s, err}
	case errors.As(err, &d):
		return &wrapped{d.Error(), err}
	}
	return &wrapped{fmt.Sprintf("%v: %s", at.Err, where), err}
}

// A wrapped error is another one in other words.
type wrapped struct {
	msg string
	err error
}

func (w *wrapped) Error() string { return w.msg }
func (w *wrapped) Unwrap() error { return w.err }

// machine returns the part of a recorder's configuration that the hardware model
// is made of.
func (cfg *RecordConfig) machine() (record.Config, error) {
	rc := record.Config{Cores: cfg.Cores, ThreadsPerCore: cfg.ThreadsPerCore, Protocol: cfg.Protocol, Accounting: cfg.Accounting, Prefetch: cfg.Prefetch,
		CodeLog: cfg.CodeLog, ReadLog: cfg.ReadLog, Addresses: cfg.Addresses}
	l2 := cfg.L2
	l2, rc.L2Exclusive = strings.CutSuffix(l2, ":exclusive")
	for _, c := range []struct {
		name, text string
		g          *hwmodel.Geometry
	}{{"L1 cache", cfg.L1, &rc.L1}, {"L1 code cache", cfg.L1I, &rc.L1I}, {"L2 cache", l2, &rc.L2}, {"last-level cache", cfg.LLC, &rc.LLC}} {
		g, err := parseGeometry(c.text)
		if err != nil {
			return rc, fmt.Errorf("%s: %w", c.name, err)
		}
		*c.g = g
	}
	if rc.L2Exclusive && l2 == "" {
		return rc, fmt.Errorf("L2 cache: %q: want size/ways before it, for instance 1M/16:exclusive", cfg.L2)
	}
	var err error
	rc.TLB, err = hwmodel.ParseTLB(cfg.TLB)
	return rc, err
}

// parseGeometry reads size/ways; "" is the zero Geometry.
func parseGeometry(s string) (hwmodel.Geometry, error) {
	if s == "" {
		return hwmodel.Geometry{}, nil
	}
	size, ways, ok := strings.Cut(s, "/")
	n, err := ParseSize(size)
	w, err2 := strconv.Atoi(ways)
	if !ok || err != nil || err2 != nil || n > 1<<32 {
		return hwmodel.Geometry{}, fmt.Errorf("%q: want size/ways, for instance 32K/8", s)
	}
	return hwmodel.Geometry{Size: int(n), Ways: w}, nil
}

// selected returns a function that finds the functions of a module whose names
// match one of the patterns, and one that says whether there were any.
func selected(patterns string) (sel func(m linux.Module) []emulate.Addr, found func() bool) {
	if patterns == "" {
		return nil, func() bool { return true }
	}
	n := 0
	return func(m linux.Module) (out []emulate.Addr) {
		ms := funcs.NewModules([]funcs.Image{{Path: m.Path, Base: m.Base, BuildID: m.BuildID}}, funcs.Options{})
		for _, p := range strings.Split(patterns, ",") {
			for _, f := range ms.FuncsNamed(p) {
				out = append(out, f.Entry)
			}
		}
		n += len(out)
		return out
	}, func() bool { return n > 0 }
}

// parseRing reads SIZE or thread:SIZE; "" is no ring.
func parseRing(s string) (size int64, each bool, err error) {
	if s == "" {
		return 0, false, nil
	}
	num, each := strings.CutPrefix(s, "thread:")
	n, err := ParseSize(num)
	if err != nil || n < record.MinRing || n > math.MaxInt64 {
		return 0, false, fmt.Errorf("ring %q: want a size of at least %dK, or thread: and a size", s, record.MinRing>>10)
	}
	return int64(n), each, nil
}

// ParseSize reads a number of bytes with an optional suffix K, M, G or T
// (powers of 1024).
func ParseSize(s string) (uint64, error) {
	shift := 0
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]); i >= 0 {
			shift = 10 * (i + 1)
			s = s[:len(s)-1]
		}
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > math.MaxUint64>>shift {
		return 0, fmt.Errorf("size %q: want a number of bytes, with K, M, G or T behind it if you like", s)
	}
	return n << shift, nil
}

// WithSteps adds to a pct schedule that doesn't say it how many steps there will
// be, as a recording before told (RecordResult.Contended); 0 is unknown.
func WithSteps(schedule string, steps uint64) string {
	c, err := linux.ParsePCT(schedule)
	if err != nil || c.Steps > 0 || steps == 0 {
		return schedule
	}
	c.Steps = steps
	return c.String()
}

// DeriveSeed returns the seed of the i-th of several runs: the first has the
// seed itself.
func DeriveSeed(seed uint64, i int) uint64 {
	if i == 0 {
		return seed
	}
	x := seed + uint64(i)*0x9e3779b97f4a7c15 // SplitMix64 (Steele, Lea, Flood 2014)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
