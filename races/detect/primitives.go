package detect

import (
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
)

// A primitiveUse says what a function does to the life of a mutex, semaphore or
// the like: it uses it, or begins or ends its life (see races, lives.go). It
// does so when it is entered: what it waits for comes after.
type primitiveUse struct {
	arg  int    // register that holds its address
	size uint64 // bytes
	kind races.Kind
}

// primitiveFuncs lists the kinds of primitives with the functions that begin
// and end their lives, and those that use them; the primitive is the first
// argument, a mutex also the second one of condition waits. (POSIX.1-2017, C11,
// OpenMP 5.0, 3.3; sizes as in glibc for x86-64, libgomp and libomp.)
//
// What returns from pthread_barrier_wait may destroy the barrier, and who was
// woken by a semaphore the semaphore: what others still do inside is the
// library's business.
var primitiveFuncs = []struct {
	size             uint64
	begin, end, uses string
}{
	{mutexSize, "pthread_mutex_init __pthread_mutex_init mtx_init", "pthread_mutex_destroy __pthread_mutex_destroy mtx_destroy",
		"pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock pthread_mutex_clocklock pthread_mutex_unlock __pthread_mutex_lock __pthread_mutex_trylock __pthread_mutex_unlock mtx_lock mtx_timedlock mtx_trylock mtx_unlock"},
	{48, "pthread_cond_init cnd_init", "pthread_cond_destroy cnd_destroy",
		"pthread_cond_signal pthread_cond_broadcast cnd_signal cnd_broadcast " + conditionWaits},
	{56, "pthread_rwlock_init __pthread_rwlock_init", "pthread_rwlock_destroy __pthread_rwlock_destroy",
		"pthread_rwlock_rdlock pthread_rwlock_tryrdlock pthread_rwlock_timedrdlock pthread_rwlock_clockrdlock pthread_rwlock_wrlock pthread_rwlock_trywrlock pthread_rwlock_timedwrlock pthread_rwlock_clockwrlock pthread_rwlock_unlock __pthread_rwlock_rdlock __pthread_rwlock_tryrdlock __pthread_rwlock_wrlock __pthread_rwlock_trywrlock __pthread_rwlock_unlock"},
	{4, "pthread_spin_init", "pthread_spin_destroy", "pthread_spin_lock pthread_spin_trylock pthread_spin_unlock"},
	{32, "pthread_barrier_init", "pthread_barrier_destroy", "pthread_barrier_wait"},
	{32, "sem_init", "sem_destroy", "sem_wait sem_trywait sem_timedwait sem_clockwait sem_post sem_getvalue"},
	{8, "omp_init_lock omp_init_lock_with_hint", "omp_destroy_lock", "omp_set_lock omp_unset_lock omp_test_lock"},
	{16, "omp_init_nest_lock omp_init_nest_lock_with_hint", "omp_destroy_nest_lock", "omp_set_nest_lock omp_unset_nest_lock omp_test_nest_lock"},
}

const conditionWaits = "pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait cnd_wait cnd_timedwait"

// useEntries maps the entries of these functions to what they do.
func useEntries(ms *funcs.Modules) map[emulate.Addr][]primitiveUse {
	m := map[emulate.Addr][]primitiveUse{}
	if ms == nil {
		return m
	}
	add := func(names string, u primitiveUse) {
		seen := map[emulate.Addr]bool{}
		for _, n := range strings.Fields(names) {
			for _, f := range ms.ExportedEver(n) {
				if !seen[f.Entry] {
					seen[f.Entry] = true
					m[f.Entry] = append(m[f.Entry], u)
				}
			}
		}
	}
	for _, p := range primitiveFuncs {
		add(p.uses, primitiveUse{x86.RDI, p.size, races.Read})
		// pthread_spin_init is pthread_spin_unlock by another name.
		add(p.begin, primitiveUse{x86.RDI, p.size, races.Write})
		add(p.end, primitiveUse{x86.RDI, p.size, races.Free})
	}
	for a, us := range m {
		for i := range us {
			if us[i].kind != us[0].kind {
				m[a] = us[:i]
				break
			}
		}
	}
	add(conditionWaits, primitiveUse{x86.RSI, mutexSize, races.Read})
	return m
}

// usePrimitives notes that the thread enters a function that uses primitives.
func (f *follower) usePrimitives(us []primitiveUse, node funcs.NodeID, c *x86.CPU) {
	if len(us) == 0 {
		return
	}
	n := f.p.Tree.Node(node)
	for fn := f.p.Tree.Func(n.Parent); fn != nil && fn.PLT; fn = f.p.Tree.Func(n.Parent) {
		n = f.p.Tree.Node(n.Parent)
	}
	if pl := f.p.Tree.Place(n.Parent, n.Site); pl.Category != 0 {
		if pl.Category != funcs.SyncAPI || f.inOpenMP(n.Site) {
			return // the run-time's own
		}
	}
	for _, u := range us {
		f.b.events = append(f.b.events, races.Event{Op: races.OpUse, Kind: u.kind, Thread: f.tt.ID, Object: races.ObjPrimitive, Value: c.R[u.arg], N: u.size,
			PC: uint64(n.Site), Ctx: n.Parent, Count: f.t.Count()})
	}
}
