package races

import (
	"testing"

	"github.com/racesim/racesim/emulate"
)

// life feeds a use of an object, or the beginning (Write) or end (Free) of its life.
func (s *script) life(th emulate.ThreadID, k Kind, object ObjectKind, id uint64) {
	s.count[th]++
	s.pc++
	s.Feed(&Event{Op: OpUse, Kind: k, Thread: th, Object: object, Value: id, N: 40, PC: s.pc, Count: s.count[th]})
}

func TestLives(t *testing.T) {
	mutex := uint64(heap) + 8
	for _, c := range []struct {
		name string
		run  func(s *script)
		want []string
	}{
		{"race_used_before_begun", func(s *script) {
			s.start(2, 3)
			s.life(2, Read, ObjPrimitive, mutex)
			s.life(3, Write, ObjPrimitive, mutex)
		}, []string{"2 read - 3 write @ 20008+40"}},
		{"race_used_after_its_end", func(s *script) {
			s.life(1, Write, ObjPrimitive, mutex)
			s.start(2)
			s.life(1, Free, ObjPrimitive, mutex)
			s.life(2, Read, ObjPrimitive, mutex)
		}, []string{"1 write - 2 read @ 20008+40"}},
		{"race_memory_freed", func(s *script) {
			s.Alloc(1, heap, 64, 0, 0)
			s.start(2)
			s.life(2, Read, ObjPrimitive, mutex)
			s.Feed(&Event{Op: OpFree, Thread: 1, Addr: heap})
		}, []string{"2 read - 1 free @ 20008+1"}},
		{"norace_used_by_all", func(s *script) {
			s.life(1, Write, ObjPrimitive, mutex)
			s.start(2, 3)
			s.life(2, Read, ObjPrimitive, mutex)
			s.life(3, Read, ObjPrimitive, mutex)
			s.life(1, Read, ObjPrimitive, mutex)
			s.Feed(&Event{Op: OpThreadExit, Thread: 2})
			s.Feed(&Event{Op: OpThreadExit, Thread: 3})
			s.Feed(&Event{Op: OpJoin, Thread: 1, Value: 2})
			s.Feed(&Event{Op: OpJoin, Thread: 1, Value: 3})
			s.life(1, Free, ObjPrimitive, mutex)
		}, nil},
		{"norace_memory_used_again", func(s *script) {
			s.Alloc(1, heap, 64, 0, 0)
			s.start(2)
			s.life(2, Read, ObjPrimitive, mutex)
			s.Alloc(1, heap, 64, 0, 0)
			s.life(1, Write, ObjPrimitive, mutex)
		}, nil},
		{"norace_the_memory_isn't_the_object", func(s *script) {
			s.start(2)
			s.life(2, Read, ObjPrimitive, uint64(X))
			s.w(1, X)
		}, nil},
		{"race_closed", func(s *script) {
			s.start(2)
			s.life(2, Read, ObjDescriptor, 5)
			s.life(1, Free, ObjDescriptor, 5)
			s.life(1, Free, ObjDescriptor, 6)
		}, []string{"2 read - 1 write @ 5+40"}},
		{"norace_number_given_out_again", func(s *script) {
			s.start(2)
			s.life(2, Read, ObjDescriptor, 5)
			s.Feed(&Event{Op: OpRenew, Thread: 1, Object: ObjDescriptor, Value: 5})
			s.life(1, Free, ObjDescriptor, 5)
		}, nil},
		{"norace_all_numbers_may_be_others", func(s *script) {
			s.start(2)
			s.life(2, Free, ObjDescriptor, 5)
			s.Feed(&Event{Op: OpRenew, Thread: 1, Object: ObjDescriptor, Value: ^uint64(0)})
			s.life(1, Read, ObjDescriptor, 5)
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, Config{})
			c.run(s)
			s.want(c.want...)
			for _, x := range s.Candidates() {
				if x.Reason != LifeRace && x.Reason != FreeRace {
					t.Errorf("reason %v", x.Reason)
				}
			}
		})
	}
}
