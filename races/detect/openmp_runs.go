package detect

import (
	"sort"

	"github.com/racesim/racesim/emulate"
)

// A TaskRun is the execution of a task of OpenMP by a thread.
type TaskRun struct {
	Task uint64 // its number, from 1, in the order in which tasks were begun
	From emulate.Count
	// SP is the stack pointer at its function's entry: what is below is the
	// task's.
	SP uint64
	// By made it, at PC in Ctx.
	By  emulate.ThreadID
	Ctx uint32
	PC  uint64

	to    emulate.Count // the first instruction after it; 0: none
	outer int           // the run around it, -1: none
}

// Contains says whether an instruction of the thread is part of the run, or of
// those within.
func (r *TaskRun) Contains(c emulate.Count) bool { return c >= r.From && (r.to == 0 || c < r.to) }

// Task returns the innermost task that a thread executes at an instruction; nil
// if it is none but its own.
func (p *Pass) Task(id emulate.ThreadID, at emulate.Count) *TaskRun {
	tt := p.Threads[id]
	if tt == nil {
		return nil
	}
	l := tt.tasks
	i := sort.Search(len(l), func(i int) bool { return l[i].From > at }) - 1
	for i >= 0 && !l[i].Contains(at) {
		i = l[i].outer
	}
	if i < 0 {
		return nil
	}
	return &l[i]
}

// began notes that a thread begins to execute a task.
func (tt *ThreadTrack) began(r TaskRun) {
	r.outer = len(tt.tasks) - 1
	for r.outer >= 0 && tt.tasks[r.outer].to != 0 {
		r.outer = tt.tasks[r.outer].outer
	}
	tt.tasks = append(tt.tasks, r)
}

// over notes that it has executed the innermost one.
func (tt *ThreadTrack) over(at emulate.Count) {
	i := len(tt.tasks) - 1
	for i >= 0 && tt.tasks[i].to != 0 {
		i = tt.tasks[i].outer
	}
	if i >= 0 {
		tt.tasks[i].to = at
	}
}
