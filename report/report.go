package report

// Schema names the version of the JSON form of a Report.
const Schema = "racesim/report/v1"

// A Report is everything that an analysis found. The JSON form is its wire
// format; every other renderer prints from it.
type Report struct {
	Schema   string    `json:"schema"`
	Races    []Race    `json:"races"`
	Causes   []Cause   `json:"causes"` // races grouped by what would mend them
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`
	// Experiments are those that the user asked for and that belong to no race.
	Experiments []Experiment `json:"experiments,omitempty"`
	// Runs are the recordings that were merged, if several were made.
	Runs []Run `json:"runs,omitempty"`
	// Notes are sentences about what limits the analysis (a truncated trace,
	// missing symbols, an exhausted budget). Never silent.
	Notes []string `json:"notes,omitempty"`
}

// A Run is one of several recordings. Its seed and schedule make it again.
type Run struct {
	Seed     uint64 `json:"seed"`
	Schedule string `json:"schedule"`
	Trace    string `json:"trace,omitempty"` // where it was kept
}

// A Verdict says what a race does.
type Verdict string

const (
	Harmful         Verdict = "harmful"
	Benign          Verdict = "benign"
	Synchronisation Verdict = "synchronisation"
	Unknown         Verdict = "unknown"
)

// A Race is one pair of conflicting, unordered accesses, judged.
type Race struct {
	ID         string  `json:"id"`              // stable across runs and seeds
	Cause      string  `json:"cause,omitempty"` // identifier of its Cause; empty if suppressed
	Verdict    Verdict `json:"verdict"`
	Confidence float64 `json:"confidence"` // that the verdict is right, 0 to 1; 0 of unknown
	Reason     string  `json:"reason"`     // one sentence
	// Evidence is the kind of what the verdict rests on, as in
	// docs/confidence.md.
	Evidence string `json:"evidence,omitempty"`
	// Predicted says that the recording itself orders the two accesses, by
	// critical sections that might as well have come in another order.
	Predicted bool `json:"predicted,omitempty"`
	// Witness shows a predicted race; nil for others.
	Witness *Witness `json:"witness,omitempty"`
	// Severity, Fail and Suppressed are what rules.yaml made of it.
	Severity   string `json:"severity,omitempty"`
	Fail       *bool  `json:"fail,omitempty"`
	Suppressed string `json:"suppressed,omitempty"` // the reason given
	Count      int    `json:"count"`                // conflicting pairs that this race stands for
	Seen       int    `json:"seen,omitempty"`       // recordings that show it, if several were made
	// Run is the one of several recordings, from 1, that shows it as it is here,
	// and Verdicts in how many the verdicts were which, if they differ.
	Run      int             `json:"run,omitempty"`
	Verdicts map[Verdict]int `json:"verdicts,omitempty"`
	Location Location        `json:"location"`
	Accesses [2]Access       `json:"accesses"`
	// LeftOut says what the budget left out: kind and number.
	LeftOut []string `json:"left_out,omitempty"`
	// Checkers are those that changed their minds in an experiment.
	Checkers    []CheckerChange `json:"checkers,omitempty"`
	Experiments []Experiment    `json:"experiments"`
}

// A CheckerChange is a checker that finds something in an experiment and not
// without it, or the other way round.
type CheckerChange struct {
	Change string `json:"change"` // +id or -id
	What   string `json:"what"`
	Runs   int    `json:"runs"` // executions of the sections
}

// A Location is the memory that a race is about.
type Location struct {
	Kind     string `json:"kind"` // global, heap, stack, tls, mapped, descriptor, unknown
	Symbol   string `json:"symbol"`
	Variable string `json:"variable,omitempty"` // the symbol without members and indices
	Base     string `json:"-"`                  // where a variable with static storage begins
	// Member is the place in a heap block, ".state" or "[3].level", and Object
	// what the block holds: one, or an array, of this type. Empty if unknown.
	Member      string  `json:"member,omitempty"`
	Object      string  `json:"object,omitempty"`
	Offset      int64   `json:"offset"` // bytes from the symbol or block
	Size        int     `json:"size"`   // bytes
	Type        string  `json:"type"`
	Address     string  `json:"address,omitempty"`
	AllocatedAt []Frame `json:"allocated_at"`
	AllocatedBy uint32  `json:"allocated_by,omitempty"` // thread
	// FreedAt is where the block was freed, if it was before the race; unless
	// that is one of the accesses.
	FreedAt []Frame `json:"freed_at,omitempty"`
	FreedBy uint32  `json:"freed_by,omitempty"` // thread
}

// An Access is one side of a race.
type Access struct {
	Thread     uint32 `json:"thread"`
	ThreadName string `json:"thread_name,omitempty"`
	// Goroutine is the number of the goroutine that the thread executed, in Go
	// programs. Then CreatedBy is a goroutine, too.
	Goroutine uint64 `json:"goroutine,omitempty"`
	// Task is the number of the task that the thread executed, in OpenMP
	// programs. Then CreatedBy is the thread that made the task.
	Task uint64 `json:"task,omitempty"`
	// CreatedAt is where CreatedBy, a thread, created the thread; the program's
	// first thread has neither.
	CreatedBy uint32   `json:"created_by,omitempty"`
	CreatedAt []Frame  `json:"created_at,omitempty"`
	Position  string   `json:"position"`
	Op        string   `json:"op"` // read, write, update, free
	Atomic    bool     `json:"atomic"`
	Function  string   `json:"function"`
	File      string   `json:"file"`
	Line      int      `json:"line"`
	Code      string   `json:"code,omitempty"` // that line, if the source is there
	Value     string   `json:"value"`
	Locks     []string `json:"locks,omitempty"` // names of the locks held
	Stack     []Frame  `json:"stack"`
	// Moved is the number of times that the racing bytes came to this thread
	// changed, within the section around the access: another thread stored to
	// them in between, in the recording.
	Moved int `json:"moved,omitempty"`
}

// A Frame is one function on a call stack, innermost first.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Module   string `json:"module"`
	// Offset is of the instruction in the module, hexadecimal, as the file's
	// virtual addresses are; only without a File.
	Offset  string `json:"offset,omitempty"`
	Inlined bool   `json:"inlined,omitempty"`
	// Interrupted says that it called nothing: a signal handler, the frame
	// before, interrupted it.
	Interrupted bool `json:"interrupted,omitempty"`
}

// An Experiment is one re-emulation and what came of it.
type Experiment struct {
	Function    string   `json:"function"`
	Load        string   `json:"load"`   // file:line
	Mode        string   `json:"mode"`   // correct, simulate
	Source      string   `json:"source"` // entry, own-store, other-thread, typical, atypical, boundary, random, user, interleaving
	Recorded    string   `json:"recorded"`
	Replacement string   `json:"replacement"`
	Outcome     string   `json:"outcome"` // same, different, crash, hang, diverged, unknown, not-serialisable
	Outputs     []Output `json:"outputs"`
	Normal      *bool    `json:"normal"` // nil: no opinion
	Score       float64  `json:"score"`
	Detail      string   `json:"detail,omitempty"`
	// Schedule is the order that led there, of an interleaving: who runs, and
	// until where.
	Schedule []Turn `json:"schedule,omitempty"`
	Trace    string `json:"trace,omitempty"` // file that it was saved to
	// Checkers lists findings that appeared (+id) or vanished (-id).
	Checkers []string `json:"checkers,omitempty"`
}

// A Turn is one stretch of an interleaving: the section around one side of the
// race runs.
type Turn struct {
	Side  int    `json:"side"`  // index in Race.Accesses
	Until string `json:"until"` // "before its racing access 2", "to its end"
}

// An Output is one output of a function instance, before and after.
type Output struct {
	Name       string `json:"name"`
	Recorded   string `json:"recorded"`
	Reemulated string `json:"reemulated"`
}

// A Finding is what a checker found.
type Finding struct {
	Checker  string  `json:"checker"`
	Severity string  `json:"severity"`
	Message  string  `json:"message"`
	Thread   uint32  `json:"thread,omitempty"`
	Position string  `json:"position,omitempty"`
	Seen     int     `json:"seen,omitempty"` // recordings that show it, if several were made
	Stack    []Frame `json:"stack"`
	// Related are the other places that the finding is about.
	Related    []Related `json:"related,omitempty"`
	Fail       *bool     `json:"fail,omitempty"`
	Suppressed string    `json:"suppressed,omitempty"`
}

// A Related is a place that belongs to a finding: where the block was
// allocated, where the lock was taken.
type Related struct {
	What   string  `json:"what"` // "allocated", "freed", …: how the stack is headed
	Thread uint32  `json:"thread,omitempty"`
	Stack  []Frame `json:"stack"`
}

// A Summary counts, and says whether the gate passed.
type Summary struct {
	Harmful         int    `json:"harmful"`
	Benign          int    `json:"benign"`
	Synchronisation int    `json:"synchronisation"`
	Unknown         int    `json:"unknown"`
	Findings        int    `json:"findings"`
	Instructions    uint64 `json:"instructions"`
	Threads         int    `json:"threads"`        // of the recording with the most
	Runs            int    `json:"runs,omitempty"` // recordings, if several were made
	Gate            string `json:"gate"`           // pass, fail
}
