package checkers

import (
	"fmt"

	"github.com/racesim/racesim/report"
)

var wrongUnlock = &Checker{
	ID:    "wrong-unlock",
	Title: "a lock is given up by a thread that doesn't hold it",
	Text: "Only the thread that took a mutex, spin lock or readers-writer lock may give it up (POSIX.1-2017, " +
		"pthread_mutex_unlock). If another one does, or nobody holds the lock, the behaviour is undefined: what the lock " +
		"protects isn't protected any more, and the holder gives up a lock that somebody else has got by then. Take and " +
		"give up locks in one function or by a guard object; to wake another thread use a condition variable or a " +
		"semaphore. Locks of pthread_…, C11 and C++ are followed, not hand-made ones.",
	Before:   "T1: lock(m); start(T2);   T2: work(); unlock(m);",
	After:    "T1: start(T2); sem_wait(s);   T2: work(); sem_post(s);",
	Severity: "error",
	Again:    Again{Text: "mutexes that a section gives up while the other one, or nobody, holds them.", Inside: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		return lockMisuses(f.Unlocks, func(m *LockMisuse) string {
			if m.Holder == 0 {
				return fmt.Sprintf("%s is unlocked, but nobody holds it", m.Lock)
			}
			return fmt.Sprintf("thread %d unlocks %s, which thread %d holds since %s", m.Thread, m.Lock, m.Holder, top(m.HeldAt))
		})
	},
}

var destroyLocked = &Checker{
	ID:    "destroy-locked",
	Title: "a lock is destroyed while somebody holds it",
	Text: "Destroying a mutex or readers-writer lock that is locked is undefined (POSIX.1-2017, pthread_mutex_destroy), " +
		"and so is freeing the memory that it is in: its holder will give up a lock that is no more, in memory that may be " +
		"another's. Let the last user destroy an object, after unlocking it: count references, or join the threads first.",
	Before:   "T1: lock(&p->m); use(p); unlock(&p->m);   T2: mutex_destroy(&p->m); free(p);",
	After:    "T1: lock(&p->m); use(p); unlock(&p->m);   T2: join(T1); mutex_destroy(&p->m); free(p);",
	Severity: "error",
	Again:    Again{Text: "mutexes that a section destroys while somebody holds them.", Inside: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		return lockMisuses(f.Destroys, func(m *LockMisuse) string {
			what := "destroyed"
			if m.Freed {
				what = "freed with its memory"
			}
			who := fmt.Sprintf("thread %d holds it", m.Holder)
			if m.Holder == m.Thread {
				who = "this thread holds it itself"
			}
			return fmt.Sprintf("%s is %s while %s, since %s", m.Lock, what, who, top(m.HeldAt))
		})
	},
}

var waitUnlocked = &Checker{
	ID:    "wait-without-lock",
	Title: "a thread waits for a condition without holding its mutex",
	Text: "pthread_cond_wait gives up the mutex that it is passed and takes it again; the caller must hold it " +
		"(POSIX.1-2017). Without it, a signal between the test of the predicate and the wait is lost and the thread sleeps " +
		"for ever, and what is given up is another thread's lock. Take the mutex before the predicate is tested.",
	Before:   "while (!ready) cond_wait(&c, &m);",
	After:    "lock(&m); while (!ready) cond_wait(&c, &m); unlock(&m);",
	Severity: "error",
	Again:    Again{Text: "waits with a mutex that the other section, or nobody, holds.", Inside: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		return lockMisuses(f.Waits, func(m *LockMisuse) string {
			if m.Holder == 0 {
				return fmt.Sprintf("waits for a condition with %s, which nobody holds", m.Lock)
			}
			return fmt.Sprintf("waits for a condition with %s, which thread %d holds", m.Lock, m.Holder)
		})
	},
}

var waitLoop = &Checker{
	ID:    "wait-without-loop",
	Title: "a condition is waited for once, not in a loop that tests the predicate",
	Text: "A wait may end although nobody signalled, and what was signalled may be gone again by the time the thread runs " +
		"(POSIX.1-2017, pthread_cond_wait: spurious wakeups). The predicate has to be tested again after each wait. It is " +
		"reported if no function between the one that took the mutex and the wait can come back to the wait without giving " +
		"up the mutex; the machine code is looked at. Waits with a time limit, which serve as sleeps, aren't.",
	Before:   "lock(&m); if (!ready) cond_wait(&c, &m); use(); unlock(&m);",
	After:    "lock(&m); while (!ready) cond_wait(&c, &m); use(); unlock(&m);",
	Severity: "warning",
	Again:    Again{Text: "places that wait, in sections that the recording shows not to.", Places: true, Tips: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		return lockMisuses(f.LooseWaits, func(m *LockMisuse) string {
			return fmt.Sprintf("waits for a condition with %s, and doesn't test it again afterwards: the wait may end although nothing happened", m.Lock)
		})
	},
}

// lockMisuses makes a finding of each, one for each place.
func lockMisuses(list []LockMisuse, say func(*LockMisuse) string) []report.Finding {
	seen := map[string]bool{}
	var out []report.Finding
	for i := range list {
		m := &list[i]
		if k := place(m.Stack); seen[k] {
			continue
		} else {
			seen[k] = true
		}
		x := report.Finding{Message: say(m), Thread: m.Thread, Position: m.Position, Stack: m.Stack}
		if len(m.HeldAt) > 0 {
			x.Related = append(x.Related, report.Related{What: "taken", Thread: m.Holder, Stack: m.HeldAt})
		}
		if len(m.TakenAt) > 0 {
			x.Related = append(x.Related, report.Related{What: "taken", Thread: m.Thread, Stack: m.TakenAt})
		}
		out = append(out, x)
	}
	return out
}

var unjoined = &Checker{
	ID:    "unjoined-thread",
	Title: "a thread that has ended was neither joined nor detached",
	Text: "Its stack and its exit status are kept for whoever joins it: a program that creates such threads again and " +
		"again runs out of memory or threads. And nobody knows that it has ended, or what it did. Join it, or detach it if " +
		"nobody waits. Threads that still run when the program ends aren't reported, nor those of run-time libraries. " +
		"Threads created at one place are one finding.",
	Before:   "pthread_create(&t, NULL, work, job); return;",
	After:    "pthread_create(&t, NULL, work, job); pthread_detach(t); return;",
	Severity: "warning",
	Again:    Again{Text: "threads that the sections join or detach in the recording and then don't, or the other way round.", Tips: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		if !f.Complete {
			return nil
		}
		n := map[string]int{}
		var out []report.Finding
		var keys []string
		for i := range f.Unjoined {
			t := &f.Unjoined[i]
			k := stackKey(t.Created)
			if n[k]++; n[k] == 1 {
				keys = append(keys, k)
				out = append(out, report.Finding{Message: fmt.Sprintf("thread %d, which has ended, was neither joined nor detached", t.ID),
					Thread: t.Parent, Position: t.Position, Stack: t.Created})
			}
		}
		for i, k := range keys {
			if n[k] > 1 {
				out[i].Message = fmt.Sprintf("%d threads created here, which have ended, were neither joined nor detached", n[k])
			}
		}
		return out
	},
}
