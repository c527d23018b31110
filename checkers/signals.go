package checkers

import (
	"fmt"
	"strings"

	"github.com/racesim/racesim/report"
)

var signalUnsafe = &Checker{
	ID:    "signal-unsafe-call",
	Title: "a signal handler calls a function that may not be called there",
	Text: "A signal arrives anywhere, also in the middle of malloc or printf, which then hold a lock or have their data half " +
		"changed: a handler that calls them deadlocks or corrupts memory (signal-safety(7), POSIX.1-2017 2.4.3). Reported are " +
		"calls to functions that allocate, lock, or work on streams or other shared state of the C library (AS-Unsafe in the " +
		"glibc manual); as an error if in this very run the signal interrupted such a function. Let the handler set a " +
		"volatile sig_atomic_t, write(2) to a pipe, or use signalfd(2), and do the work outside.",
	Before:   "void on_term(int s) { printf(\"bye\\n\"); exit(0); }",
	After:    "volatile sig_atomic_t stop; void on_term(int s) { stop = 1; }   …   while (!stop) work();",
	Severity: "warning",
	Again:    Again{Text: "calls by handlers that run within the sections, or that the sections are part of.", Places: true, Tips: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		seen := map[string]bool{}
		var out []report.Finding
		for i := range f.Unsafe {
			u := &f.Unsafe[i]
			if k := place(u.Stack); seen[k] {
				continue
			} else {
				seen[k] = true
			}
			what := u.Function
			if u.By != "" {
				what = u.By + ", which comes to " + u.Function + ","
			}
			x := report.Finding{Message: fmt.Sprintf("the handler of %s calls %s; that may have been interrupted", signalName(u.Signal), what),
				Thread: u.Thread, Position: u.Position, Stack: u.Stack}
			if u.Certain {
				x.Message = fmt.Sprintf("the handler of %s calls %s and has interrupted %s", signalName(u.Signal), what, u.Interrupted)
				x.Severity = "error"
			}
			out = append(out, x)
		}
		return out
	},
}

// signalNames are Linux's on x86-64 (signal(7)).
var signalNames = strings.Fields("HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS")

func signalName(n int) string {
	if n >= 1 && n <= len(signalNames) {
		return "SIG" + signalNames[n-1]
	}
	return fmt.Sprintf("signal %d", n)
}

// unsafeInHandlers are functions that the glibc manual (release 2.36) marks
// AS-Unsafe because of a lock, the heap or state that may be half changed,
// beside those that allocate. Left out is what is unsafe only in principle:
// snprintf and the like, which take no lock.
var unsafeInHandlers = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`
		printf fprintf vprintf vfprintf __printf_chk __fprintf_chk __vprintf_chk __vfprintf_chk dprintf vdprintf asprintf vasprintf __asprintf_chk
		puts fputs putc putchar fputc getc getchar fgetc fgets gets getline getdelim fwrite fread ungetc perror psignal psiginfo
		_IO_puts _IO_putc _IO_getc _IO_fputs _IO_fwrite _IO_printf _IO_fflush _IO_fopen _IO_fclose
		fopen fopen64 fdopen freopen fclose fcloseall fflush fseek fseeko ftell rewind setvbuf setbuf scanf fscanf __isoc99_scanf __isoc99_fscanf
		wprintf fwprintf tmpfile popen pclose system
		exit atexit on_exit __cxa_atexit syslog vsyslog openlog closelog __syslog_chk
		localtime localtime_r gmtime gmtime_r mktime strftime ctime ctime_r tzset asctime
		rand srand random srandom setenv unsetenv putenv clearenv setlocale
		getaddrinfo freeaddrinfo getnameinfo gethostbyname gethostbyaddr getpwnam getpwuid getgrnam getgrgid getservbyname
		opendir readdir closedir scandir glob wordexp qsort_r dlopen dlsym dlclose dlerror
		pthread_mutex_lock pthread_mutex_unlock pthread_mutex_trylock pthread_mutex_timedlock mtx_lock mtx_unlock
		pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_unlock pthread_spin_lock
		pthread_cond_wait pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast cnd_wait cnd_signal cnd_broadcast
		pthread_create pthread_join pthread_exit pthread_cancel pthread_once pthread_barrier_wait thrd_create thrd_join
		__cxa_throw __cxa_allocate_exception backtrace_symbols`) {
		m[n] = true
	}
	return m
}()

// UnsafeInHandlers says whether signal handlers may not call a function of the C
// library. Those that allocate aren't listed.
func UnsafeInHandlers(name string) bool {
	name, _, _ = strings.Cut(name, "@")
	return unsafeInHandlers[name]
}
