package linux

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate/x86"
)

// A Config says how a guest is run. Its zero value, apart from Path, is valid.
type Config struct {
	// Path is the program file. A name without a slash is not searched for.
	Path string
	// Cores is the number of processing units, 1 to 64; 0 means 4.
	Cores int
	// Seed determines the schedule and the guest's random bytes.
	Seed uint64
	// Schedule chooses who runs next; 0 means ScheduleRandom.
	Schedule Schedule
	PCT      PCT // of SchedulePCT
	// Slice is the mean number of instructions that a thread runs between
	// pre-emptions, 1 or more; 0 means DefaultSlice.
	Slice int
	// CPU is what the processor says it is; 0 means DefaultCPU.
	CPU x86.Level
	// HostClock makes time real instead of a function of what was executed.
	HostClock bool
	// MemoryLimit is the most memory that the guest may touch, in bytes; 0
	// means 16 GiB.
	MemoryLimit uint64
	// Stdin, Stdout and Stderr are the guest's descriptors 0, 1 and 2; nil
	// means those of this process.
	Stdin, Stdout, Stderr *os.File
	// Dir is the guest's working directory; "" means this process's.
	Dir string
	// Children says what becomes of processes that the guest forks; 0 means
	// ChildrenRun.
	Children Children
	// Strict ends the guest with an *Unsupported error where it would get an
	// error like ENOSYS for something that isn't supported.
	Strict bool
	// FirstFrame is the number of the guest's first frame, FrameAddr an address
	// of this process where its memory should lie, if there is room; 0 is wherever
	// it comes. Nothing that the guest does or that is recorded depends on them.
	FirstFrame uint64
	FrameAddr  uintptr
	// HostSignals forwards the signals that this process gets to the guest.
	HostSignals bool
}

// DefaultSlice is the mean length of a slice in instructions.
const DefaultSlice = 30000

// DefaultCPU is the level of the processor unless another is asked for.
const DefaultCPU = x86.Level3

// A Schedule is a policy of the scheduler.
type Schedule uint8

const (
	_ Schedule = iota
	// ScheduleRandom takes slices of random length from random threads.
	ScheduleRandom
	// ScheduleRR gives every thread the same slice in turn.
	ScheduleRR
	// SchedulePCT runs the thread with the highest random priority and lowers
	// it at a few random points: see PCT.
	SchedulePCT
)

func (s Schedule) String() string {
	switch s {
	case ScheduleRandom:
		return "random"
	case ScheduleRR:
		return "rr"
	case SchedulePCT:
		return "pct"
	}
	return "invalid"
}

// ParseSchedule reads what Schedule.String printed. Behind "pct" may stand what
// ParsePCT reads.
func ParseSchedule(s string) (Schedule, error) {
	if strings.HasPrefix(s, "pct:") {
		_, err := ParsePCT(s)
		return SchedulePCT, err
	}
	for _, p := range []Schedule{ScheduleRandom, ScheduleRR, SchedulePCT} {
		if p.String() == s {
			return p, nil
		}
	}
	return 0, fmt.Errorf("schedule %q: want random, rr or pct", s)
}

// complete fills in what cfg leaves open and checks the rest.
func (cfg *Config) complete() error {
	if cfg.Cores == 0 {
		cfg.Cores = 4
	}
	if cfg.Cores < 1 || cfg.Cores > 64 {
		return fmt.Errorf("linux: %d cores: want 1 to 64", cfg.Cores)
	}
	if cfg.CPU == 0 {
		cfg.CPU = DefaultCPU
	}
	if cfg.CPU.String() == "invalid" {
		return fmt.Errorf("linux: processor level %d: there is no such level", cfg.CPU)
	}
	if cfg.Schedule == 0 {
		cfg.Schedule = ScheduleRandom
	}
	if cfg.Schedule.String() == "invalid" {
		return fmt.Errorf("linux: schedule %d: there is no such policy", cfg.Schedule)
	}
	if cfg.Slice == 0 {
		cfg.Slice = DefaultSlice
	}
	if cfg.Slice < 1 {
		return fmt.Errorf("linux: slices of %d instructions: want 1 or more", cfg.Slice)
	}
	if cfg.Children == 0 {
		cfg.Children = ChildrenRun
	}
	if cfg.MemoryLimit == 0 {
		cfg.MemoryLimit = 16 << 30
	}
	if cfg.Stdin == nil {
		cfg.Stdin = os.Stdin
	}
	if cfg.Stdout == nil {
		cfg.Stdout = os.Stdout
	}
	if cfg.Stderr == nil {
		cfg.Stderr = os.Stderr
	}
	return nil
}

// An ExitStatus is how the guest ended.
type ExitStatus struct {
	Code   int         // argument of exit, 0 to 255, if Signal is 0
	Signal unix.Signal // the signal that killed the guest, 0 if none did
}

// Status is the number that a shell would show: Code, or 128 + Signal.
func (s ExitStatus) Status() int {
	if s.Signal != 0 {
		return 128 + int(s.Signal)
	}
	return s.Code
}

func (s ExitStatus) String() string {
	if s.Signal != 0 {
		return "killed by " + unix.SignalName(s.Signal)
	}
	return fmt.Sprintf("exit status %d", s.Code)
}
