package linux

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// FirstPID is the guest's process number, and its main thread's.
const FirstPID = 4242

// A Process is a guest: its memory, threads, files, signals and clock.
type Process struct {
	PID int
	AS  *AddressSpace

	fam      *family
	parent   *Process // nil: the first process
	recorded bool     // somebody listens; else hooks are a relative's
	children []*child
	pgid     int    // process group
	sid      int    // session
	release  func() // gives the parent of a vfork its memory back; nil: it has it
	layout   layout
	execs    int  // programs that took the place of others
	death    int  // signal when the parent ends (PR_SET_PDEATHSIG)
	halted   bool // stopped, as by SIGSTOP

	cfg    Config
	hooks  Hooks
	blocks *x86.BlockCache
	argv   []string
	env    []string
	exe    string // absolute path of the program
	auxv   []byte

	threads    []*Thread // live ones, in the order of their creation
	lastThread *emulate.ThreadID
	cur        *Thread // whom the hooks believe to be running
	turn       uint64  // its count when they were told
	curUnit    int
	sched      scheduler
	clock      *clock
	rng        random // the guest's random bytes

	actions [maxSignal + 1]sigaction
	pending sigqueue
	timers  timers

	fds    fdTable
	cwd    int // host descriptor of the working directory
	cred   credentials
	limits map[int][2]uint64 // resource limits that the guest has set: soft, hard
	undos  []semUndoing
	// signalFiles is how many signalfds were opened or inherited.
	signalFiles int
	umask       int // file mode creation mask
	futexes     map[futexID][]*futexWaiter

	nextDeadline int64 // no thread's deadline is earlier
	fdWaiters    int   // threads that wait for descriptors
	events       chan *watch
	hostSignals  chan os.Signal
	stopped      chan struct{}
	stopErr      error

	exited      bool
	status      ExitStatus
	exitedInstr uint64 // instructions of threads that have ended
	private     bool   // membarrier is registered
	scratch     []byte // see buffer
}

// New loads the program cfg.Path with the given arguments (argv[0] included)
// and environment. hooks is told of everything from then on; env has the form
// of os.Environ. Errors are about cfg or the program file.
func New(cfg Config, hooks Hooks, argv, env []string) (*Process, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	p := &Process{
		PID:          FirstPID,
		cfg:          cfg,
		hooks:        hooks,
		blocks:       x86.NewBlockCache(),
		argv:         argv,
		env:          env,
		rng:          random(cfg.Seed ^ 0x9a4d03),
		futexes:      make(map[futexID][]*futexWaiter),
		nextDeadline: never,
		pgid:         FirstPID,
		sid:          FirstPID,
		recorded:     true,
		cred:         hostCredentials(),
		layout:       layoutOf(0),
	}
	p.fam = newFamily(p)
	p.lastThread = &p.fam.lastThread
	p.AS = newAddressSpace(hooks, p.blocks, newPhysical(&cfg))
	hooks.Attach(p)
	dir := cfg.Dir
	if dir == "" {
		dir = "."
	}
	var err error
	if p.cwd, err = unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("linux: working directory %s: %w", dir, err)
	}
	if err := p.load(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// realPath is what /proc/self/exe says of an executed file: no link, and from
// the root (proc(5)). Loaders find a program's libraries beside it.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}

// load opens the files, maps the program and makes the main thread.
func (p *Process) load() error {
	path := p.cfg.Path
	if !filepath.IsAbs(path) && p.cfg.Dir != "" {
		path = filepath.Join(p.cfg.Dir, path)
	}
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("linux: %w", err)
	}
	p.exe = realPath(path)
	p.sched.init(p)
	p.initClock(p.startTime(st.ModTime()).UnixNano())
	p.initOutside()
	if err := p.fds.inherit(p, p.cfg.Stdin, p.cfg.Stdout, p.cfg.Stderr); err != nil {
		return err
	}
	img, err := p.loadProgram(path, 0)
	if err != nil {
		return err
	}
	t := p.newThread(p.fam.newPID())
	t.Name = truncName(filepath.Base(path))
	sp, err := p.buildStack(img)
	if err != nil {
		return err
	}
	t.CPU.R[4] = sp
	t.CPU.RIP = img.start
	p.hooks.ThreadStart(t, 0)
	return nil
}

// startTime is what the virtual clock starts with: the date of the program, or of
// the youngest file among its arguments. So the clock seldom has to jump when the
// guest looks at its files (see seen), which servers take for a fault.
func (p *Process) startTime(t time.Time) time.Time {
	for _, arg := range p.argv[min(1, len(p.argv)):] {
		if !filepath.IsAbs(arg) && p.cfg.Dir != "" {
			arg = filepath.Join(p.cfg.Dir, arg)
		}
		if st, err := os.Stat(arg); err == nil && st.Mode().IsRegular() && st.ModTime().After(t) {
			t = st.ModTime()
		}
	}
	return t
}

// truncName cuts a thread's name to what the kernel keeps.
func truncName(s string) string {
	if len(s) > 15 {
		return s[:15]
	}
	return s
}

// Threads returns the live threads in the order of their creation. The caller
// must not change the slice; it is valid until the guest runs on.
func (p *Process) Threads() []*Thread { return p.threads }

// Current returns the thread that is executing, nil if none is.
func (p *Process) Current() *Thread { return p.cur }

// Blocks returns the cache of decoded code that all threads share.
func (p *Process) Blocks() *x86.BlockCache { return p.blocks }

// Path returns the absolute path of the program.
func (p *Process) Path() string { return p.exe }

// Exited reports whether the process has come to its end.
func (p *Process) Exited() bool { return p.exited }

// exit ends the process.
func (p *Process) exit(s ExitStatus) {
	if p.exited {
		return
	}
	p.exited = true
	p.status = s
}

// endThreads tells the hooks that the remaining threads end.
func (p *Process) endThreads() {
	code := p.status.Status()
	for len(p.threads) > 0 {
		t := p.threads[0]
		t.clearTID = 0
		p.endThread(t, code)
	}
}

// close gives what p has back to the host.
func (p *Process) close() {
	if p == p.fam.root && p.events != nil {
		p.closeOutside()
	}
	for n := range p.fds.list {
		p.closeFD(n)
	}
	if p.cwd >= 0 {
		unix.Close(p.cwd)
		p.cwd = -1
	}
	p.AS.leave(p)
}

// An Unsupported error is a guest's wish that racesim can't fulfil.
type Unsupported struct {
	What   string // "system call 57 (fork)", "instruction 0f 01 f9"
	Why    string // "" if there is no more to say than that it isn't supported
	Thread emulate.ThreadID
	Count  emulate.Count // instructions that the thread had executed
	RIP    emulate.Addr
}

func (u *Unsupported) Error() string {
	s := fmt.Sprintf("%s isn't supported: thread %d after %d instructions, at %v", u.What, u.Thread, u.Count, u.RIP)
	if u.Why != "" {
		s += ": " + u.Why
	}
	return s
}

// A Deadlock error says that every thread waits for another one, for ever.
type Deadlock struct {
	Waits []string // one line a thread
}

func (d *Deadlock) Error() string {
	s := "deadlock: every thread waits for ever"
	for _, w := range d.Waits {
		s += "; " + w
	}
	return s
}
