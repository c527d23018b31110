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
	// Public is what the world outside of the program sees and the order of the
	// two decides, as a sentence; "": nothing that is known.
	Public string
	// Gone says where the differences between the orders have disappeared; "" if
	// one of them goes on, or nobody looked.
	Gone string
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
	t := tally(e.Trials)
	switch {
	case e.RecordedOdd && e.Interleavings == 0:
		return Harmful, 0.85, "it happened in this recording: the result equals neither order of the two, " + e.NotSerialWhat
	case t.crash > 0 && e.Interleavings == 0:
		return Harmful, 0.85, "with the other value the function fails: " + t.crashWhat
	case e.Guarded:
		return Synchronisation, 0.7, "every interleaving equals a serial order, decided by a load that synchronises"
	case e.Interleavings > 0 && !e.OrdersDiffer:
		return Benign, 0.9, fmt.Sprintf("all %d interleavings and both orders end alike", e.Interleavings)
	case e.Public != "" && t.abnormal > 0:
		return Harmful, 0.75, "the order of the two decides what the program puts out, " + e.Public + ", and one of them isn't normal: " + t.abnormalWhat
	case e.Public != "" && t.normal > 0:
		return Benign, 0.6, "the order of the two decides what the program puts out, " + e.Public + ", as the function's outputs usually differ"
	case e.Public != "":
		return Harmful, 0.6, "the order of the two, which nothing determines, decides what the program puts out: " + e.Public
	case e.Interleavings > 0 && t.abnormal > 0:
		// A replaced value is a hypothesis, and often one that nothing leads to:
		// one half of a pair that is checked for consistency.
		return Benign, 0.6, fmt.Sprintf("each of %d interleavings ends like one of the two serial orders, though %s", e.Interleavings, t.abnormalWhat)
	case e.Interleavings > 0 && e.Gone != "":
		return Benign, 0.85, fmt.Sprintf("each of %d interleavings ends like one of the two serial orders, and %s", e.Interleavings, e.Gone)
	case e.Interleavings > 0:
		return Benign, 0.75, fmt.Sprintf("each of %d interleavings ends like one of the two serial orders", e.Interleavings)
	case t.happened > 0:
		return Harmful, 0.75, "it happened in this recording: what the function did isn't normal, and without the other thread's store it is: " + t.happenedWhat
	case t.abnormal > 0:
		return Harmful, 0.7, "with the other value the outputs are abnormal: " + t.abnormalWhat
	case t.same > 0 && t.different == 0 && t.unknown == 0:
		return Benign, 0.7, "no replacement changes any output"
	case t.different > 0 && t.unknown == 0 && e.Gone != "":
		return Benign, 0.7, "the other value changes what the function does (" + t.differentWhat + "), but " + e.Gone
	case t.normal > 0 && t.unknown == 0:
		return Benign, 0.65, "the other value changes what the function does (" + t.differentWhat + "), which stays as it usually is"
	case t.different > 0 && t.unknown == 0:
		return Unknown, 0.5, "the other value changes the outputs (" + t.differentWhat + "), and nothing says whether that is normal"
	case e.SerialFailed != "":
		return Unknown, 0.3, "could not be re-emulated: " + e.SerialFailed
	}
	return Unknown, 0.3, "no experiment gave a result"
}

// A count of what trials showed.
type count struct {
	same, different, crash, unknown int
	// abnormal: simulations that lead to something unusual from something usual.
	// normal: ones that lead to something usual. happened: corrections that make
	// something usual of what wasn't.
	abnormal, normal, happened                           int
	crashWhat, abnormalWhat, differentWhat, happenedWhat string
}

func tally(trials []Trial) count {
	var c count
	for _, t := range trials {
		switch t.Outcome {
		case "same":
			c.same++
		case "crash":
			c.crash++
			c.crashWhat = t.What
		case "hang":
			c.crash++
			c.crashWhat = "it never returns, " + t.What
		case "unknown":
			c.unknown++
		case "different", "diverged", "not-serialisable":
			c.different++
			if c.differentWhat == "" {
				c.differentWhat = t.What
			}
			odd := t.Recorded.Known && !t.Recorded.Normal
			switch {
			case !t.Opinion.Known:
			case t.Simulate && t.Opinion.Normal:
				c.normal++
			case t.Simulate && !odd:
				c.abnormal++
				c.abnormalWhat = t.Opinion.Why
			case !t.Simulate && t.Opinion.Normal && odd:
				c.happened++
				c.happenedWhat = t.Recorded.Why
			}
		}
	}
	return c
}
