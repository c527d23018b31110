package races

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
)

// A script feeds a detector with events; every access gets its own PC unless
// told, so that candidates stand for single pairs.
type script struct {
	*Detector
	t     *testing.T
	count map[emulate.ThreadID]emulate.Count
	value uint64
	pc    uint64
	flags Flags
	scope Scope
	ctx   uint32
}

func newScript(t *testing.T, cfg Config) *script {
	s := &script{Detector: New(cfg), t: t, count: map[emulate.ThreadID]emulate.Count{}}
	s.ThreadStart(1, 0)
	return s
}

// start creates threads, children of thread 1.
func (s *script) start(ids ...emulate.ThreadID) *script {
	for _, id := range ids {
		s.ThreadStart(id, 1)
	}
	return s
}

func (s *script) access(th emulate.ThreadID, k Kind, a emulate.Addr, size int) {
	s.count[th]++
	s.pc++
	s.Feed(&Event{Op: OpAccess, Kind: k, Flags: s.flags, Scope: s.scope, Thread: th, Addr: a, N: uint64(size),
		PC: s.pc, Count: s.count[th], Value: s.value, Ctx: s.ctx})
}

func (s *script) r(th emulate.ThreadID, a emulate.Addr)   { s.access(th, Read, a, 4) }
func (s *script) w(th emulate.ThreadID, a emulate.Addr)   { s.access(th, Write, a, 4) }
func (s *script) u(th emulate.ThreadID, a emulate.Addr)   { s.access(th, Update, a, 4) }
func (s *script) rmw(th emulate.ThreadID, a emulate.Addr) { s.atomic(th, Update, a) }
func (s *script) atomic(th emulate.ThreadID, k Kind, a emulate.Addr) {
	f := s.flags
	s.flags |= Atomic
	s.access(th, k, a, 4)
	s.flags = f
}

// internally runs f as code of the run-time.
func (s *script) internally(f func()) {
	s.flags |= Internal
	f()
	s.flags &^= Internal
}

// load and store are plain accesses with a value.
func (s *script) load(th emulate.ThreadID, a emulate.Addr, v uint64) {
	s.value = v
	s.r(th, a)
	s.value = 0
}
func (s *script) store(th emulate.ThreadID, a emulate.Addr, v uint64) {
	s.value = v
	s.w(th, a)
	s.value = 0
}

// found lists the candidates as "thread kind - thread kind @ address+size".
func (s *script) found() []string {
	var l []string
	for _, c := range s.Candidates() {
		l = append(l, fmt.Sprintf("%d %v - %d %v @ %x+%d", c.First.Thread, c.First.Kind, c.Second.Thread, c.Second.Kind, uint64(c.Addr), c.Size))
	}
	sort.Strings(l)
	return l
}

func (s *script) want(l ...string) {
	s.t.Helper()
	sort.Strings(l)
	if got := s.found(); strings.Join(got, "\n") != strings.Join(l, "\n") {
		s.t.Errorf("found:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(l, "\n\t"))
	}
}
