package races

import (
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
)

const (
	X    emulate.Addr = 0x1000
	Y    emulate.Addr = 0x1010
	M    emulate.Addr = 0x1020 // a mutex word, used by atomic instructions
	F    emulate.Addr = 0x1030 // a flag, used by plain loads and stores
	heap emulate.Addr = 0x20000
)

// A rule is one rule of the detector. The name says the truth: race_ or
// norace_; want lists what must be found.
type rule struct {
	name string
	cfg  Config
	run  func(s *script)
	want []string
}

func flagIsSync() Config { return Config{Sync: []SyncVar{{Addr: F, Size: 4}}} }

var rules = []rule{
	{"race_two_writes", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000+4"}},
	{"race_write_then_read", Config{}, func(s *script) {
		s.start(2)
		s.w(2, X)
		s.r(1, X)
	}, []string{"2 write - 1 read @ 1000+4"}},
	{"race_lost_update_all_three_pairs", Config{}, func(s *script) {
		s.start(2, 3)
		s.r(2, X)
		s.w(2, X)
		s.r(3, X)
		s.w(3, X)
	}, []string{"2 write - 3 read @ 1000+4", "2 read - 3 write @ 1000+4", "2 write - 3 write @ 1000+4"}},
	{"race_unlocked_updates", Config{}, func(s *script) {
		s.start(2, 3)
		s.u(2, X)
		s.u(3, X)
	}, []string{"2 update - 3 update @ 1000+4"}},
	{"norace_reads", Config{}, func(s *script) {
		s.w(1, X)
		s.start(2, 3)
		s.r(2, X)
		s.r(3, X)
		s.r(1, X)
	}, nil},

	{"norace_create", Config{}, func(s *script) {
		s.w(1, X)
		s.start(2)
		s.r(2, X)
		s.w(2, X)
	}, nil},
	{"race_after_create", Config{}, func(s *script) {
		s.start(2)
		s.w(1, X)
		s.r(2, X)
	}, []string{"1 write - 2 read @ 1000+4"}},
	{"norace_join", Config{}, func(s *script) {
		s.start(2)
		s.w(2, X)
		s.ThreadExit(2, 0)
		s.Join(1, 2)
		s.w(1, X)
	}, nil},
	{"race_without_join", Config{}, func(s *script) {
		s.start(2)
		s.w(2, X)
		s.ThreadExit(2, 0)
		s.w(1, X)
	}, []string{"2 write - 1 write @ 1000+4"}},
	{"norace_tid_word_join_without_futex_wait", Config{}, func(s *script) {
		s.start(2)
		s.w(2, X)
		s.ThreadExit(2, F)
		s.internally(func() { s.load(1, F, 0) }) // pthread_join sees that it is zero already
		s.w(1, X)
	}, nil},
	{"norace_grandchild", Config{}, func(s *script) {
		s.w(1, X)
		s.start(2)
		s.ThreadStart(3, 2)
		s.w(3, X)
	}, nil},

	{"norace_mutex_by_atomics", Config{}, func(s *script) {
		s.start(2, 3)
		for _, th := range []emulate.ThreadID{2, 3, 2} {
			s.rmw(th, M)
			s.r(th, X)
			s.w(th, X)
			s.rmw(th, M)
		}
	}, nil},
	{"norace_spinlock_released_by_plain_store", Config{}, func(s *script) {
		s.start(2, 3)
		for _, th := range []emulate.ThreadID{2, 3, 2} {
			s.rmw(th, M)
			s.u(th, X)
			s.store(th, M, 0)
		}
	}, nil},
	{"race_two_mutexes", Config{}, func(s *script) {
		s.start(2, 3)
		s.rmw(2, M)
		s.w(2, X)
		s.rmw(2, M)
		s.rmw(3, Y)
		s.w(3, X)
		s.rmw(3, Y)
	}, []string{"2 write - 3 write @ 1000+4"}},
	{"race_missed_lock_on_one_path", Config{}, func(s *script) {
		s.start(2, 3)
		s.rmw(2, M)
		s.w(2, X)
		s.rmw(2, M)
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000+4"}},
	{"race_failed_compare_exchange_does_not_release", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.atomic(2, Read, M)
		s.rmw(3, M)
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000+4"}},
	{"norace_failed_compare_exchange_acquires", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.rmw(2, M)
		s.atomic(3, Read, M)
		s.w(3, X)
	}, nil},
	{"race_work_after_release", Config{}, func(s *script) {
		s.start(2, 3)
		s.rmw(2, M)
		s.w(2, X)
		s.rmw(3, M)
		s.r(3, X)
	}, []string{"2 write - 3 read @ 1000+4"}},
	{"race_adjacent_atomics_are_two_variables", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.rmw(2, M)
		s.rmw(3, M+4)
		s.r(3, X)
	}, []string{"2 write - 3 read @ 1000+4"}},
	{"norace_wide_atomic_covers_both_halves", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.rmw(2, M)
		s.flags = Atomic
		s.access(3, Update, M, 16)
		s.flags = 0
		s.r(3, X)
	}, nil},

	{"race_spin_flag_before_recognition", Config{}, func(s *script) {
		s.start(2)
		s.store(2, X, 42)
		s.store(2, F, 1)
		s.load(1, F, 1)
		s.load(1, X, 42)
	}, []string{"2 write - 1 read @ 1000+4", "2 write - 1 read @ 1030+4"}},
	{"norace_spin_flag_recognised", flagIsSync(), func(s *script) {
		s.start(2)
		s.load(1, F, 0)
		s.store(2, X, 42)
		s.load(1, F, 0)
		s.store(2, F, 1)
		s.load(1, F, 1)
		s.load(1, X, 42)
	}, nil},
	{"race_publication_before_initialisation", flagIsSync(), func(s *script) {
		s.start(2)
		s.store(2, F, 1)
		s.store(2, X, 42)
		s.load(1, F, 1)
		s.load(1, X, 42)
	}, []string{"2 write - 1 read @ 1000+4"}},
	{"race_store_replaces_what_others_released", flagIsSync(), func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.store(2, F, 1)
		s.store(3, F, 2) // not ordered after thread 2's
		s.load(1, F, 2)
		s.r(1, X)
	}, []string{"2 write - 1 read @ 1000+4"}},
	{"norace_narrow_store_adds_to_what_was_released", flagIsSync(), func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.store(2, F, 1)
		s.access(3, Write, F+3, 1)
		s.load(1, F, 1)
		s.r(1, X)
	}, nil},
	{"race_load_does_not_release", flagIsSync(), func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.load(2, F, 0)
		s.load(3, F, 0)
		s.r(3, X)
	}, []string{"2 write - 3 read @ 1000+4"}},
	{"norace_atomic_against_plain_load_and_store", Config{}, func(s *script) {
		s.start(2, 3)
		s.rmw(2, M)
		s.load(3, M, 1)
		s.store(3, M, 0)
		s.rmw(2, M)
	}, nil},
	{"norace_initialised_then_used_atomically", Config{Sync: []SyncVar{{Addr: M, Size: 4}}}, func(s *script) {
		s.start(2, 3)
		s.store(2, M, 0)
		s.rmw(3, M)
	}, nil},
	{"race_data_beside_a_synchronisation_variable", Config{}, func(s *script) {
		s.start(2, 3)
		s.rmw(2, M)
		s.w(2, M+4)
		s.w(3, M+4)
	}, []string{"2 write - 3 write @ 1024+4"}},
	{"race_wide_store_over_both", Config{}, func(s *script) {
		s.start(2, 3)
		s.rmw(2, M)
		s.w(2, M+4)
		s.access(3, Write, M, 8)
	}, []string{"2 write - 3 write @ 1024+4"}},

	{"race_update_against_atomic_update", Config{}, func(s *script) {
		s.start(2, 3)
		s.rmw(2, M)
		s.u(3, M)
	}, []string{"2 update - 3 update @ 1020+4"}},
	{"race_atomic_update_after_update", Config{Sync: []SyncVar{{Addr: M, Size: 4}}}, func(s *script) {
		s.start(2, 3)
		s.u(2, M)
		s.rmw(3, M)
	}, []string{"2 update - 3 update @ 1020+4"}},
	{"race_update_after_a_look", Config{}, func(s *script) {
		s.start(2, 3)
		s.rmw(2, M)
		s.load(3, M, 1)
		s.u(3, M)
	}, []string{"2 update - 3 update @ 1020+4"}},
	{"race_update_against_compare_exchange_loop", Config{Sync: []SyncVar{{Addr: M, Size: 4}}}, func(s *script) {
		s.start(2, 3)
		s.u(2, M)
		s.load(3, M, 1)
		s.rmw(3, M)
	}, []string{"2 update - 3 update @ 1020+4"}},
	{"race_load_and_store_against_atomic_update", Config{}, func(s *script) {
		s.start(2, 3)
		s.rmw(2, M)
		s.load(3, M, 5)
		s.store(3, M, 6)
	}, []string{"2 update - 3 update @ 1020+4"}},
	{"race_atomic_update_lost_between_load_and_store", Config{}, func(s *script) {
		s.start(2, 3)
		s.rmw(1, M)
		s.start(4)
		s.load(4, M, 1)
		s.rmw(2, M)
		s.store(4, M, 0)
	}, []string{"2 update - 4 write @ 1020+4"}},
	{"norace_update_under_a_lock", Config{}, func(s *script) {
		s.start(2, 3)
		s.rmw(2, M)
		s.rmw(2, Y)
		s.rmw(3, Y)
		s.u(3, M)
	}, nil},
	{"norace_flag_handed_to_and_fro", Config{}, func(s *script) {
		s.start(2, 3)
		for i := 0; i < 3; i++ {
			s.load(2, M, 0)
			s.rmw(2, M) // flag.store(1), sequentially consistent: XCHG
			s.load(3, M, 1)
			s.store(3, M, 0) // flag.store(0, release)
		}
	}, nil},
	{"norace_last_reference", Config{}, func(s *script) {
		// libstdc++ drops the last reference by a load of both counters and
		// two plain stores.
		s.start(2, 3)
		s.rmw(2, M)
		s.value = 0x100000001
		s.access(3, Read, M, 8)
		s.value = 0
		s.access(3, Write, M, 8)
	}, nil},
	{"race_plain_updates_of_a_synchronisation_variable", flagIsSync(), func(s *script) {
		s.start(2, 3)
		s.u(2, F)
		s.u(3, F)
	}, []string{"2 update - 3 update @ 1030+4"}},

	{"norace_adjacent_bytes", Config{}, func(s *script) {
		s.start(2, 3)
		for i := emulate.Addr(0); i < 8; i += 2 {
			s.access(2, Write, X+i, 1)
			s.access(3, Write, X+i+1, 1)
		}
	}, nil},
	{"race_bit_fields_in_one_byte", Config{}, func(s *script) {
		s.start(2, 3)
		s.access(2, Update, X, 1)
		s.access(3, Update, X, 1)
	}, []string{"2 update - 3 update @ 1000+1"}},
	{"norace_bit_fields_in_two_bytes", Config{}, func(s *script) {
		s.start(2, 3)
		s.access(2, Update, X, 1)
		s.access(3, Update, X+1, 1)
	}, nil},
	{"race_mixed_sizes", Config{}, func(s *script) {
		s.start(2, 3)
		s.access(2, Write, X, 8)
		s.access(3, Read, X+5, 2)
	}, []string{"2 write - 3 read @ 1005+2"}},
	{"race_straddling_two_granules", Config{}, func(s *script) {
		s.start(2, 3)
		s.access(2, Write, X+6, 4)
		s.access(3, Write, X+8, 1)
	}, []string{"2 write - 3 write @ 1008+1"}},
	{"race_vector_store", Config{}, func(s *script) {
		s.start(2, 3)
		s.access(2, Write, X, 64)
		s.access(3, Read, X+0x38, 8)
	}, []string{"2 write - 3 read @ 1038+8"}},
	{"race_part_overwritten_in_order", Config{}, func(s *script) {
		s.start(2, 3)
		s.access(2, Write, X, 8)
		s.access(2, Write, X, 2)
		s.Release(2, Object{ObjOther, 1}, ScopeUser)
		s.access(2, Write, X+2, 2)
		s.Acquire(3, Object{ObjOther, 1}, ScopeUser)
		s.access(3, Read, X, 8)
	}, []string{"2 write - 3 read @ 1002+2"}},

	{"norace_malloc_reuse", Config{}, func(s *script) {
		s.start(2, 3)
		s.Alloc(2, heap, 32, 0, 0)
		s.w(2, heap+8)
		s.Free(2, heap, 0, 0, 0)
		s.Alloc(3, heap, 32, 0, 0)
		s.w(3, heap+8)
	}, nil},
	{"norace_smaller_block_in_reused_memory", Config{}, func(s *script) {
		s.start(2, 3)
		s.Alloc(2, heap, 64, 0, 0)
		s.access(2, Write, heap+16, 8)
		s.Free(2, heap, 0, 0, 0)
		s.Alloc(3, heap, 20, 0, 0)
		s.access(3, Write, heap+16, 4)
	}, nil},
	{"race_use_against_free", Config{}, func(s *script) {
		s.start(2, 3)
		s.Alloc(1, heap, 32, 0, 0)
		s.start(4)
		s.r(4, heap+8)
		s.Free(1, heap, 0, 0, 0)
	}, []string{"4 read - 1 free @ 20008+4"}},
	{"race_use_after_free", Config{}, func(s *script) {
		s.Alloc(1, heap, 32, 0, 0)
		s.start(2)
		s.Free(1, heap, 0, 0, 0)
		s.r(2, heap+8)
	}, []string{"1 free - 2 read @ 20008+4"}},
	{"race_atomic_against_free", Config{}, func(s *script) {
		s.Alloc(1, heap, 32, 0, 0)
		s.start(2)
		s.rmw(2, heap)
		s.Free(1, heap, 0, 0, 0)
	}, []string{"2 update - 1 free @ 20000+4"}},
	{"norace_reference_count_then_free", Config{}, func(s *script) {
		s.Alloc(1, heap, 32, 0, 0)
		s.start(2)
		s.w(2, heap+8)
		s.rmw(2, heap)
		s.rmw(1, heap)
		s.Free(1, heap, 0, 0, 0)
	}, nil},
	{"norace_use_after_free_in_order", Config{}, func(s *script) {
		s.Alloc(1, heap, 32, 0, 0)
		s.Free(1, heap, 0, 0, 0)
		s.start(2)
		s.r(2, heap+8) // a bug, but not a race
	}, nil},
	{"race_in_reused_memory_that_was_a_mutex", Config{Sync: []SyncVar{{Addr: heap, Size: 4, Lives: []int{1}}}}, func(s *script) {
		s.start(2, 3)
		s.Alloc(2, heap, 32, 0, 0)
		s.rmw(2, heap)
		s.Free(2, heap, 0, 0, 0)
		s.Alloc(2, heap, 32, 0, 0)
		s.w(2, heap)
		s.w(3, heap)
	}, []string{"2 write - 3 write @ 20000+4"}},
	{"race_first_life_of_a_mutex_orders_nothing_in_the_second", Config{}, func(s *script) {
		s.start(2, 3)
		s.Alloc(2, heap, 32, 0, 0)
		s.w(2, X)
		s.rmw(2, heap)
		s.Free(2, heap, 0, 0, 0)
		s.Alloc(3, heap, 32, 0, 0)
		s.rmw(3, heap)
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000+4"}},

	{"norace_thread_stack_reuse", Config{}, func(s *script) {
		s.start(2)
		s.w(2, X)
		s.ThreadExit(2, 0) // detached
		s.Reset(0x1000, 0x1000)
		s.start(3)
		s.w(3, X)
	}, nil},
	{"norace_unmapped_and_mapped_again", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.Reset(0, 0x100000)
		s.w(3, X)
	}, nil},
	{"race_beside_the_memory_that_was_reset", Config{}, func(s *script) {
		s.start(2, 3)
		s.access(2, Write, X, 8)
		s.Reset(X+3, 2)
		s.access(3, Write, X+3, 3)
	}, []string{"2 write - 3 write @ 1005+1"}},

	{"race_two_mappings_of_one_memory", Config{Canon: sharedAt5000and9000}, func(s *script) {
		s.start(2, 3)
		s.w(2, 0x5008)
		s.w(3, 0x9008)
	}, []string{"2 write - 3 write @ 9008+4"}},
	{"norace_lock_through_another_mapping", Config{Canon: sharedAt5000and9000}, func(s *script) {
		s.start(2, 3)
		s.rmw(2, 0x5000)
		s.w(2, 0x5008)
		s.rmw(2, 0x5000)
		s.rmw(3, 0x9000)
		s.w(3, 0x9008)
	}, nil},
	{"race_other_mapping_outlives_the_first", Config{Canon: sharedAt5000and9000}, func(s *script) {
		s.start(2, 3)
		s.w(2, 0x5008)
		s.Reset(0x5000, 0x1000) // munmap
		s.w(3, 0x9008)
	}, []string{"2 write - 3 write @ 9008+4"}},

	{"race_ordered_only_by_the_allocator_s_lock", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.internally(func() { s.rmw(2, M); s.w(2, Y); s.rmw(2, M) })
		s.internally(func() { s.rmw(3, M); s.w(3, Y); s.rmw(3, M) })
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000+4"}},
	{"norace_internal_side_ordered_by_an_internal_lock", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.internally(func() { s.rmw(2, M) })
		s.internally(func() { s.rmw(3, M); s.r(3, X) })
	}, nil},
	{"race_internal_sides_without_any_order", Config{}, func(s *script) {
		s.start(2, 3)
		s.internally(func() { s.w(2, X); s.w(3, X) })
	}, []string{"2 write - 3 write @ 1000+4"}},
	{"race_internal_access_does_not_hide_the_user_s", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.internally(func() { s.w(2, X); s.rmw(2, M); s.rmw(3, M) })
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000+4"}},
	{"norace_synchronisation_function_in_the_run_time", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.scope = ScopeUser
		s.internally(func() { s.rmw(2, M); s.rmw(3, M) })
		s.scope = ScopeDefault
		s.w(3, X)
	}, nil},
	{"race_internal_store_hands_nothing_on_to_the_user", Config{Sync: []SyncVar{{Addr: F, Size: 4}}}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.internally(func() { s.store(2, F, 1) })
		s.load(3, F, 1)
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000+4"}},

	{"norace_pipe", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.KernelRead(2, Y, 16, 0, 0, 0)
		s.Release(2, Object{ObjChannel, 5}, ScopeUser)
		s.Acquire(3, Object{ObjChannel, 5}, ScopeUser)
		s.KernelWrite(3, F, 16, 0, 0, 0)
		s.r(3, X)
	}, nil},
	{"race_other_pipe", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.Release(2, Object{ObjChannel, 5}, ScopeUser)
		s.Acquire(3, Object{ObjChannel, 6}, ScopeUser)
		s.Acquire(3, Object{ObjFutex, 5}, ScopeUser)
		s.r(3, X)
	}, []string{"2 write - 3 read @ 1000+4"}},
	{"race_buffer_of_read_system_call", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X+0x20)
		s.KernelWrite(3, X, 0x100, 9, 0, 0)
	}, []string{"2 write - 3 write @ 1020+4"}},
	{"race_buffer_of_write_system_call", Config{}, func(s *script) {
		s.start(2, 3)
		s.KernelRead(3, X, 0x100, 9, 0, 0)
		s.w(2, X+0x20)
	}, []string{"3 read - 2 write @ 1020+4"}},
	{"race_fence_alone_orders_nothing", Config{}, func(s *script) {
		s.start(2, 3)
		s.w(2, X)
		s.Fence(2)
		s.Fence(3)
		s.r(3, X)
	}, []string{"2 write - 3 read @ 1000+4"}},
	{"norace_peterson_recognised", Config{Sync: []SyncVar{{Addr: F, Size: 12}}}, func(s *script) {
		s.start(2, 3)
		enter := func(me, other emulate.ThreadID) {
			s.store(me, F+emulate.Addr(4*(me-2)), 1)
			s.store(me, F+8, uint64(other))
			s.Fence(me)
			s.load(me, F+emulate.Addr(4*(other-2)), 0)
			s.load(me, F+8, uint64(other))
			s.u(me, X)
			s.store(me, F+emulate.Addr(4*(me-2)), 0)
		}
		enter(2, 3)
		enter(3, 2)
		enter(2, 3)
	}, nil},

	{"race_seen_by_the_later_load_too", Config{}, func(s *script) {
		s.start(2, 3)
		s.pc = 100
		s.r(3, X)
		s.w(2, X)
		s.pc = 100
		s.r(3, X)
	}, []string{"3 read - 2 write @ 1000+4"}}, // one pair of instructions: see TestSamplesOfBothDirections
	{"race_after_read_by_a_third_thread", Config{}, func(s *script) {
		s.w(1, X)
		s.start(2, 3)
		s.r(2, X)
		s.r(3, X)
		s.w(1, X)
	}, []string{"2 read - 1 write @ 1000+4", "3 read - 1 write @ 1000+4"}},
	{"race_check_and_use_are_two_loads", Config{}, func(s *script) {
		s.start(2, 3)
		s.r(2, X) // if (p == NULL) …
		s.r(2, X) // use p
		s.w(3, X)
		s.r(2, X)
		s.r(2, X)
	}, []string{"2 read - 3 write @ 1000+4", "2 read - 3 write @ 1000+4", "3 write - 2 read @ 1000+4", "3 write - 2 read @ 1000+4"}},
	{"race_more_instructions_than_are_remembered", Config{Sites: 2}, func(s *script) {
		s.start(2, 3)
		for i := 0; i < 10; i++ {
			s.r(2, X)
		}
		s.w(3, X)
	}, []string{"2 read - 3 write @ 1000+4", "2 read - 3 write @ 1000+4"}},
	{"norace_detached_threads_in_turn", Config{MaxSlots: 8}, func(s *script) {
		for i := emulate.ThreadID(2); i < 100; i++ {
			s.start(i)
			s.rmw(i, M)
			s.w(i, X)
			s.rmw(i, M)
			s.ThreadExit(i, 0)
		}
	}, nil},
}

func sharedAt5000and9000(a emulate.Addr) emulate.Addr {
	switch a &^ 0xfff {
	case 0x5000, 0x9000:
		return 1<<50 | a&0xfff
	}
	return a
}

func TestRules(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			s := newScript(t, r.cfg)
			r.run(s)
			s.want(r.want...)
			if strings.HasPrefix(r.name, "race_") != (len(r.want) > 0) {
				t.Errorf("the name says something else than %q", r.want)
			}
		})
	}
}
