package report

import (
	"fmt"
	"strings"
)

// A Witness is an execution that the program can have, in which the two accesses
// of a race come next to each other although the recording orders them.
type Witness struct {
	// Executed says that it was executed again; otherwise Why says why not, and
	// that the order is possible follows from the recorded events alone.
	Executed bool          `json:"executed"`
	Why      string        `json:"why,omitempty"`
	Steps    []WitnessStep `json:"steps,omitempty"`
	LeftOut  int           `json:"left_out,omitempty"` // steps that aren't shown, after the first
	// Other are the threads that then go another way than in the recording.
	Other []uint32 `json:"other,omitempty"`
}

// A WitnessStep is what a thread does in it.
type WitnessStep struct {
	Thread uint32 `json:"thread"`
	// Instruction is its number in the recording, 0 if the thread has left the
	// recorded path.
	Instruction uint64 `json:"instruction,omitempty"`
	What        string `json:"what"`
	At          Frame  `json:"at"`
}

// witness prints how the two accesses come next to each other.
func (p *printer) witness(w *Witness) {
	if w == nil {
		return
	}
	if !w.Executed {
		p.f("    witness not executed: %s; that the order is possible follows from the recorded events\n", w.Why)
		return
	}
	p.f("    witness, executed:\n")
	for i, s := range w.Steps {
		p.f("      thread %d %s, %s\n", s.Thread, s.What, s.At.Place())
		if i == 0 && w.LeftOut > 0 {
			p.f("      … %d more\n", w.LeftOut)
		}
	}
	if len(w.Other) > 0 {
		var l []string
		for _, id := range w.Other {
			l = append(l, fmt.Sprint(id))
		}
		p.f("      (other values make thread %s go another way than in the recording)\n", strings.Join(l, ", "))
	}
}
