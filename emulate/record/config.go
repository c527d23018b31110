package record

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
)

// Defaults of a Config.
const (
	DefaultKeyFrameEvery = 50_000_000
	DefaultHashEvery     = 1_000_000
	DefaultCores         = 4

	// DefaultSelectDistance is in instructions.
	DefaultSelectDistance = 200_000

	// MinRing is the smallest size of a ring, bytes.
	MinRing = 8 << 10
)

// Values of Config.LogMode: what becomes of a line that flows into a thread and
// whose content another thread's stream holds or that thread produced.
const (
	LogIndependent = "independent" // it is logged again: each thread replays alone
	LogCCP         = "ccp"         // only the coherence message is logged: from whom it came
	// As LogCCP, and what no thread has isn't logged either, but comes from
	// snapshots of memory in a second file, Output and traces.ImagesSuffix.
	LogCCPMemory = "ccp:memory"
	// As LogCCP, but the message is that of a protocol which shows one of those
	// that have the line and how many they are, and not what they did last.
	LogCCPReaders = "ccp:readers"
)

// LogModes lists the log modes.
var LogModes = []string{LogIndependent, LogCCP, LogCCPMemory, LogCCPReaders}

// A Config says what to record and how. Output and Argv must be set; the zero
// value of everything else is the default.
type Config struct {
	// Output is the file that the trace is written to.
	Output string
	// Argv is the program, a file (names without a slash are searched for in
	// PATH), and its arguments. Env is its environment, NAME=value; nil means
	// this process's.
	Argv []string
	Env  []string
	// Dir is the guest's working directory, "" for this process's. Stdin,
	// Stdout and Stderr are its descriptors, nil for this process's.
	Dir                   string
	Stdin, Stdout, Stderr *os.File

	// Cores is the number of cores, 0 means 4, ThreadsPerCore that of processing
	// units of each, 0 means 1; together there are at most 64.
	Cores, ThreadsPerCore int
	// L1 and LLC are the geometry of each core's data cache and of the shared
	// one, Protocol the name of a coherence protocol; zero means hwmodel's
	// defaults. L1I and L2 are those of each core's cache for code and of its
	// second level; zero means that there is none.
	L1, L1I, L2, LLC hwmodel.Geometry
	L2Exclusive      bool
	Protocol         string
	// TLB is the size of each unit's TLB, Entries and Ways; zero means that there
	// are none, unless Addresses needs them: then hwmodel.DefaultTLB. Addresses says how lines are named in the trace, as
	// hwmodel.ParseTLBIDs reads it: by their virtual addresses ("virtual" or "")
	// or by entries of the TLBs.
	TLB       hwmodel.TLB
	Addresses string
	// Accounting is who remembers what is logged, as hwmodel.ParseAccounting
	// reads it; "" is "threads". Prefetch is the number of lines that a miss
	// brings in beside its own.
	Accounting string
	Prefetch   int

	// LogMode is one of LogModes; "" is LogIndependent.
	LogMode string
	// CodeLog is CodeLogPage (also "") or CodeLogLine.
	CodeLog string
	// ReadLog says how what threads read is logged, as hwmodel.ParseReadLog
	// reads it; "" is "cache".
	ReadLog string

	// Ring keeps only about that many bytes of the end of the recording, of all
	// threads together, or of each if RingPerThread is set; 0 keeps all. All
	// threads then have full key frames at about the same time.
	Ring          int64
	RingPerThread bool

	// Select returns the entries of the functions of a module that are to be
	// recorded; nil: everything is. SelectNames is what the header says of it. A
	// thread is recorded from the entry of such a function on until, after its
	// return, it has executed SelectDistance instructions without another (0: the
	// default), and so are threads that it creates meanwhile.
	Select         func(m linux.Module) []emulate.Addr
	SelectNames    string
	SelectDistance uint64

	// Snapshots says when the whole memory is put in the trace, as
	// ParseSnapshots reads it.
	Snapshots string
	// Marks are annotations in the trace, as ParseMarks reads them.
	Marks string

	// MemoryModel says which events are orderable, as hwmodel.ParseMemoryModel
	// reads it; "" is "fence".
	MemoryModel string

	// Seed determines schedule and guest randomness. Schedule is "random"
	// (also ""), "rr" or "pct". Slice is the mean length of a slice in
	// instructions, 0 for the default. Clock is "virtual" (also "") or "host".
	Seed     uint64
	Schedule string
	Slice    int
	Clock    string

	// Children says what becomes of processes that the guest forks: "run" (also
	// ""), unrecorded; "record", each to a trace of its own in the folder
	// Output; or "forbid".
	Children string
	// Embed says of which modules the trace holds the files: "own" (also ""),
	// "all" or "none". DebugFile, if it isn't nil, returns the file with the
	// separate debugging information of a module, "" if there is none.
	Embed     string
	DebugFile func(module string) string
	// Strict ends the recording where the guest asks for what isn't supported,
	// instead of answering ENOSYS or the like.
	Strict bool

	// CPU is the level that cpuid reports: "v1", "v2" or "v3"; "" means
	// linux.DefaultCPU.
	CPU string
	// MemoryLimit bounds the guest's memory in bytes, 0 for the default.
	MemoryLimit uint64
	// HostSignals forwards this process's signals to the guest.
	HostSignals bool

	// KeyFrameEvery and HashEvery are numbers of instructions of a thread, at
	// least, between places where replay can start, and between hashes of the
	// registers. 0 means the defaults, a negative number never. After a key
	// frame all memory flows in anew: by default a thread that uses much of it
	// has fewer, and a short one more.
	KeyFrameEvery, HashEvery int64

	// firstFrame and frameAddr are linux.Config's, for tests.
	firstFrame uint64
	frameAddr  uintptr

	reads     hwmodel.ReadLog
	orders    hwmodel.MemoryModel
	marks     Marks
	snapshots Snapshots
	keyAuto   bool // key frames by what they cost
}

// dependent names the mode by which a thread's stream refers to what other threads
// have; "": none.
func (c *Config) dependent() string {
	switch {
	case c.LogMode != LogIndependent:
		return "log mode " + c.LogMode
	case c.reads.Kind == hwmodel.ReadsPage:
		return "read log " + c.ReadLog
	}
	return ""
}

// Hardware returns the model's configuration.
func (c *Config) Hardware() (hwmodel.Config, error) {
	cores := c.Cores
	if cores == 0 {
		cores = DefaultCores
	}
	h := hwmodel.DefaultConfig(cores)
	h.Threads, h.L1I, h.L2, h.L2Exclusive = c.ThreadsPerCore, c.L1I, c.L2, c.L2Exclusive
	if c.L2 != (hwmodel.Geometry{}) {
		h.L1 = hwmodel.SmallL1
	}
	if c.CodeLog == CodeLogLine && c.L1I == (hwmodel.Geometry{}) {
		h.L1I = hwmodel.SmallL1 // for what isn't a module's alone
	}
	if c.L1 != (hwmodel.Geometry{}) {
		h.L1 = c.L1
	}
	if c.LLC != (hwmodel.Geometry{}) {
		h.LLC = c.LLC
	}
	if c.Protocol != "" {
		p, err := hwmodel.ProtocolNamed(c.Protocol)
		if err != nil {
			return h, err
		}
		h.Protocol = p
	}
	if c.Accounting != "" {
		a, err := hwmodel.ParseAccounting(c.Accounting)
		if err != nil {
			return h, err
		}
		h.Accounting = a
	}
	h.Prefetch = c.Prefetch
	ids, err := hwmodel.ParseTLBIDs(c.Addresses)
	if err != nil {
		return h, err
	}
	cache := hwmodel.ReadLog{Kind: hwmodel.ReadsCache}.String()
	if ids != hwmodel.TLBUnnamed && c.ReadLog != "" && c.ReadLog != cache {
		return h, fmt.Errorf("addresses %v with read log %s: only lines are named by TLB entries, choose read log %s", ids, c.ReadLog, cache)
	}
	h.TLB = c.TLB
	h.TLB.IDs = ids
	return h, h.Check()
}

// codeLogName is what the header says of the log of code: nothing of the default.
func (c *Config) codeLogName() string {
	if c.CodeLog == CodeLogPage {
		return ""
	}
	return c.CodeLog
}

// units is the number of processing units.
func (c *Config) units() int { return c.Cores * max(c.ThreadsPerCore, 1) }

// complete fills in defaults and returns the guest's configuration.
func (c *Config) complete() (linux.Config, error) {
	if c.Output == "" || len(c.Argv) == 0 {
		return linux.Config{}, fmt.Errorf("record: an output file and a program are needed")
	}
	if c.Cores == 0 {
		c.Cores = DefaultCores
	}
	if c.Schedule == "" {
		c.Schedule = linux.ScheduleRandom.String()
	}
	if c.Clock == "" {
		c.Clock = "virtual"
	}
	if c.Clock != "virtual" && c.Clock != "host" {
		return linux.Config{}, fmt.Errorf("record: clock %q, expected virtual or host", c.Clock)
	}
	if c.LogMode == "" {
		c.LogMode = LogIndependent
	}
	if !slices.Contains(LogModes, c.LogMode) {
		return linux.Config{}, fmt.Errorf("record: log mode %q, expected one of %s", c.LogMode, strings.Join(LogModes, ", "))
	}
	if c.ReadLog == "" {
		c.ReadLog = hwmodel.ReadLog{Kind: hwmodel.ReadsCache}.String()
	}
	var err error
	if c.reads, err = hwmodel.ParseReadLog(c.ReadLog); err != nil {
		return linux.Config{}, fmt.Errorf("record: %w", err)
	}
	if c.LogMode != LogIndependent && c.reads.Kind != hwmodel.ReadsCache {
		return linux.Config{}, fmt.Errorf("record: log mode %s with read log %s: only lines can be had from other threads, choose read log cache", c.LogMode, c.ReadLog)
	}
	if err = c.checkCodeLog(); err != nil {
		return linux.Config{}, err
	}
	if c.MemoryModel == "" {
		c.MemoryModel = hwmodel.OrdersFences.String()
	}
	if c.orders, err = hwmodel.ParseMemoryModel(c.MemoryModel); err != nil {
		return linux.Config{}, fmt.Errorf("record: %w", err)
	}
	if d := c.dependent(); c.Ring > 0 && d != "" {
		return linux.Config{}, fmt.Errorf("record: a ring with %s: the threads' streams would depend on what is gone; leave one of them out", d)
	}
	if c.Ring > 0 && c.Ring < MinRing {
		return linux.Config{}, fmt.Errorf("record: a ring of %d bytes, at least %d are needed", c.Ring, MinRing)
	}
	if c.snapshots, err = ParseSnapshots(c.Snapshots); err != nil {
		return linux.Config{}, fmt.Errorf("record: %w", err)
	}
	if c.marks, err = ParseMarks(c.Marks); err != nil {
		return linux.Config{}, fmt.Errorf("record: %w", err)
	}
	if d := c.dependent(); c.Select != nil && d != "" {
		return linux.Config{}, fmt.Errorf("record: functions are selected with %s: the threads' streams would depend on what isn't recorded; leave one of them out", d)
	}
	if c.Select != nil && c.Ring > 0 {
		return linux.Config{}, fmt.Errorf("record: functions are selected with a ring: a thread that isn't recorded can't have the key frames that a ring needs of all; leave one of them out")
	}
	if c.SelectDistance == 0 {
		c.SelectDistance = DefaultSelectDistance
	}
	if c.Env == nil {
		c.Env = os.Environ()
	}
	if c.KeyFrameEvery == 0 {
		c.KeyFrameEvery, c.keyAuto = DefaultKeyFrameEvery, true
	}
	if c.HashEvery == 0 {
		c.HashEvery = DefaultHashEvery
	}
	children, err := linux.ParseChildren(c.Children)
	if err != nil {
		return linux.Config{}, fmt.Errorf("record: %w", err)
	}
	level := linux.DefaultCPU
	if c.CPU != "" {
		var err error
		if level, err = x86.ParseLevel(c.CPU); err != nil {
			return linux.Config{}, fmt.Errorf("record: %w", err)
		}
	}
	c.CPU = level.String()
	sched, err := linux.ParseSchedule(c.Schedule)
	if err != nil {
		return linux.Config{}, fmt.Errorf("record: %w", err)
	}
	var pct linux.PCT
	if sched == linux.SchedulePCT {
		if pct, err = linux.ParsePCT(c.Schedule); err != nil {
			return linux.Config{}, fmt.Errorf("record: %w", err)
		}
	}
	return linux.Config{
		PCT: pct,
		CPU: level, Cores: c.units(), Seed: c.Seed, Schedule: sched, Slice: c.Slice, HostClock: c.Clock == "host",
		MemoryLimit: c.MemoryLimit, Dir: c.Dir, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
		FirstFrame: c.firstFrame, FrameAddr: c.frameAddr,
		HostSignals: c.HostSignals, Children: children, Strict: c.Strict,
	}, nil
}
