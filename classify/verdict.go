package classify

import "fmt"

// Evidence is what is known about one race when it is judged.
type Evidence struct {
	// Spin: with the other value the reader only waits for the writer's store.
	Spin bool
	// Guarded: every feasible interleaving equals a serial order and a
	// synchronising load decides which one.
	Guarded bool

	// Interleavings of both sections that were executed, how many of them
	// ended like neither serial order, and what the first of these did.
	Interleavings   int
	NotSerialisable int
	NotSerialWhat   string
	// RecordedOdd: the recorded outcome itself equals neither serial order.
	RecordedOdd bool
	// OrdersDiffer: the two serial orders end differently.
	OrdersDiffer bool
	// SerialFailed: a serial order could not be re-emulated to its end.
	SerialFailed string

	Trials []Trial

	// Freed: one side is the release of the block.
	Freed bool
	// Locks explains, for the sentence: what one side holds and the other doesn't.
	Locks string
}

// A Trial is one re-emulation with a replaced load.
type Trial struct {
	Simulate bool   // else: correct
	Outcome  string // same, different, crash, hang, diverged, unknown, not-serialisable
	Opinion  Opinion
	Recorded Opinion // of the outputs that were recorded
	What     string  // the first output that differs, with values
}

// Verdicts, as in the report.
const (
	Harmful         = "harmful"
	Benign          = "benign"
	Synchronisation = "synchronisation"
	Unknown         = "unknown"
)

// Judge turns evidence into a verdict, a confidence between 0 and 1, and one
// sentence that says why.
func Judge(e Evidence) (verdict string, confidence float64, reason string) {
	if e.Freed {
		return Harmful, 0.9, "the block is freed while the other thread may still use it"
	}
	if e.Spin {
		return Synchronisation, 0.9, "with the other value the reader only waits for this very store: the variable is used to synchronise"
	}
	if e.RecordedOdd && e.NotSerialisable > 0 {
		return Harmful, 0.97, "it happened in this recording: the result equals neither order of the two, " + e.NotSerialWhat
	}
	if e.NotSerialisable > 0 {
		return Harmful, 0.92, fmt.Sprintf("%d of %d interleavings end like neither order of the two: %s", e.NotSerialisable, e.Interleavings, e.NotSerialWhat)
	}
	var same, different, abnormal, crash, unknown int
	var crashWhat, abnormalWhat, differentWhat string
	for _, t := range e.Trials {
		switch t.Outcome {
		case "same":
			same++
		case "crash":
			crash++
			crashWhat = t.What
		case "hang":
			crash++
			crashWhat = "it never returns, " + t.What
		case "unknown":
			unknown++
		case "different", "diverged", "not-serialisable":
			different++
			if differentWhat == "" {
				differentWhat = t.What
			}
			if t.Simulate && t.Opinion.Known && !t.Opinion.Normal {
				abnormal++
				abnormalWhat = t.Opinion.Why
			}
		}
	}
	switch {
	case crash > 0 && e.Interleavings == 0:
		return Harmful, 0.85, "with the other value the function fails: " + crashWhat
	case e.Guarded:
		return Synchronisation, 0.7, "every interleaving equals a serial order, decided by a load that synchronises"
	case e.Interleavings > 0 && !e.OrdersDiffer:
		return Benign, 0.9, fmt.Sprintf("all %d interleavings and both orders end alike", e.Interleavings)
	case e.Interleavings > 0 && abnormal > 0:
		// A replaced value is a hypothesis, and often one that nothing leads to:
		// one half of a pair that is checked for consistency.
		return Benign, 0.6, fmt.Sprintf("each of %d interleavings ends like one of the two serial orders, though %s", e.Interleavings, abnormalWhat)
	case e.Interleavings > 0:
		return Benign, 0.75, fmt.Sprintf("each of %d interleavings ends like one of the two serial orders", e.Interleavings)
	case abnormal > 0:
		return Harmful, 0.7, "with the other value the outputs are abnormal: " + abnormalWhat
	case same > 0 && different == 0 && unknown == 0:
		return Benign, 0.7, "no replacement changes any output"
	case different > 0 && unknown == 0:
		return Unknown, 0.5, "the other value changes the outputs (" + differentWhat + "), and nothing says whether that is normal"
	case e.SerialFailed != "":
		return Unknown, 0.3, "could not be re-emulated: " + e.SerialFailed
	}
	return Unknown, 0.3, "no experiment gave a result"
}
