package classify

import "fmt"

// Evidence is what is known about one race when it is judged.
type Evidence struct {
	// SameTable: all that is stored is a pointer to an object's table of virtual
	// functions, where it is already.
	SameTable bool
	// Spin: with the other value the reader only waits for the writer's store.
	Spin bool
	// BothPass: two threads get past a wait for the variable, which each would
	// have waited in had the other been past it: a lock that keeps nobody out.
	BothPass bool
	// Guarded: every feasible interleaving equals a serial order and a
	// synchronising load decides which one.
	Guarded bool

	// Interleavings of both sections that were executed, how many of them
	// ended like neither serial order, and what the first of these did.
	Interleavings   int
	NotSerialisable int
	NotSerialWhat   string
	// Pairs of accesses whose sections were interleaved; interleavings of them
	// without a comparable end, and those that the budget left out.
	Pairs, Failed, Skipped int
	// Appeared is what a checker finds in an interleaving and in neither serial
	// order, as a sentence; OrderFinding what it finds in one of these only.
	Appeared, OrderFinding string
	// OrderHint is like OrderFinding, of a checker whose finding alone is no harm.
	OrderHint string
	// RecordedOdd: the recorded outcome itself equals neither serial order.
	RecordedOdd bool
	// OrdersDiffer: the two serial orders end differently.
	OrdersDiffer bool
	// Once: a side that reads does so once in its thread, or both store once, so
	// that nobody just takes what comes.
	Once bool
	// Again: a side that reads is known to do so several times in its thread.
	Again bool
	// Public is what the world outside of the program sees and the order of the
	// two decides, as a sentence; "": nothing that is known.
	Public string
	// Gone says where the differences between the orders have disappeared; "" if
	// one of them goes on, or nobody looked.
	Gone string
	// Healed says at which returns what interleavings did that ended like neither
	// order was gone. That is no excuse: another time it isn't, or was used meanwhile.
	Healed string
	// Unread: what interleavings did that ended like neither order is memory that
	// nobody reads afterwards.
	Unread bool
	// SerialFailed: a serial order could not be re-emulated to its end.
	SerialFailed string

	Trials []Trial

	// Predicted: the recording orders the two sides by critical sections that
	// might as well have come the other way round.
	Predicted bool
	// Freed: one side is the release of the block.
	Freed bool
	// Life says what one side does to the life of the mutex, descriptor or the
	// like that the other side uses: "it is destroyed". "" if it isn't about that.
	Life string
	// Loose: atomic accesses keep the two apart, on this processor, that the
	// program's language takes for no order. The experiments know only the
	// processor.
	Loose bool
	// Locks explains, for the sentence: what one side holds and the other doesn't.
	Locks string
}

// A Trial is one re-emulation with a replaced load.
type Trial struct {
	// Waits: with the value, all that the section does is to wait for the location
	// to change. Whatever Outcome says, that is no failure.
	Waits    bool
	Simulate bool   // else: correct
	Outcome  string // same, different, crash, hang, diverged, unknown, not-serialisable
	Opinion  Opinion
	Recorded Opinion // of the outputs that were recorded
	What     string  // the first output that differs, with values
	// Found is what a checker finds with this value and not without, Mended what
	// it doesn't find with it, as sentences.
	Found, Mended string
}

// Verdicts, as in the report.
const (
	Harmful         = "harmful"
	Benign          = "benign"
	Synchronisation = "synchronisation"
	Unknown         = "unknown"
)

// A Judgement is a verdict with the reason for it.
type Judgement struct {
	Verdict string
	// Basis names the kind of evidence that decided.
	Basis Basis
	// Confidence is the probability that the verdict is right, between 0 and 1;
	// see Confidence. 0 if the verdict is Unknown: there is nothing to be right.
	Confidence float64
	Reason     string // one sentence
	// Leaning is the verdict that the evidence pointed to if it is Unknown because
	// evidence like it was wrong more often than right; else "".
	Leaning string
}

// Judge turns evidence into a verdict.
func Judge(e Evidence) Judgement {
	j := decide(&e)
	if e.Loose {
		j = loose(j)
	}
	j.Confidence = Confidence(j.Verdict, j.Basis, e.Facts())
	if j.Verdict != Unknown && j.Confidence < Even {
		j.Leaning, j.Verdict, j.Confidence = j.Verdict, Unknown, 0
		j.Reason += fmt.Sprintf("; but on programs of which the truth is known, %s was wrong more often than right where this was all that there was", j.Leaning)
	}
	return j
}

// loose is what a judgement is worth if the language has no order where the
// processor has one: harm that the experiments found takes a compiler, or another
// processor, that makes use of it, and that they found none says little.
func loose(j Judgement) Judgement {
	if j.Verdict == Harmful {
		j.Reason += "; as compiled for this processor, relaxed atomic accesses keep the two apart, which the language doesn't promise"
		return j
	}
	return Judgement{Verdict: Unknown, Basis: ByNoOrder, Reason: "only relaxed atomic accesses order the two, which the language takes for no order: as compiled for this processor they come in order, and nothing says what another compiler or processor makes of it"}
}

// missing: where the interleavings that came to no end are at least this part of
// the others, what they would have shown is not to be inferred from these.
const missing = 4

// decide finds the verdict by the strongest evidence that there is.
func decide(e *Evidence) Judgement {
	by := func(verdict string, basis Basis, format string, args ...any) Judgement {
		return Judgement{Verdict: verdict, Basis: basis, Reason: fmt.Sprintf(format, args...)}
	}
	if e.Freed {
		return by(Harmful, ByFreed, "the block is freed while the other thread may still use it")
	}
	if e.Life != "" {
		return by(Harmful, ByLife, "%s while the other thread may use it", e.Life)
	}
	if e.SameTable {
		return by(Benign, ByNoEffect, "a destructor stores the pointer to its class's virtual functions, which is there already")
	}
	if e.BothPass {
		return by(Harmful, ByBothPass, "two threads get past the wait for it, since looking and setting are two steps: it keeps nobody out")
	}
	if e.Spin {
		return by(Synchronisation, BySpin, "with the other value the reader only waits for this very store: the variable is used to synchronise")
	}
	if e.Appeared != "" && e.Appeared != e.NotSerialWhat && e.NotSerialisable > 0 {
		e.NotSerialWhat += "; a checker finds what it finds in neither order: " + e.Appeared
	}
	switch {
	case e.NotSerialisable == 0:
	case e.Healed != "":
		e.NotSerialWhat += "; it is gone when " + e.Healed
	case e.Unread:
		e.NotSerialWhat += "; nothing reads it later in this recording"
	}
	if e.RecordedOdd && e.Predicted {
		// The recording has the two in an order, and is nevertheless like neither:
		// they hand something to and fro, and the orders are no yardstick.
		return by(Unknown, ByNoOrder, "what was recorded, where the two are ordered, ends like neither order of the two sections either: they can't be told by that")
	}
	if e.RecordedOdd && e.NotSerialisable > 0 {
		return by(Harmful, ByAsRecorded, "it happened in this recording: the result equals neither order of the two, %s", e.NotSerialWhat)
	}
	if e.NotSerialisable > 0 {
		return by(Harmful, ByNotSerialisable, "%d of %d interleavings end like neither order of the two: %s", e.NotSerialisable, e.Interleavings, e.NotSerialWhat)
	}
	t := tally(e.Trials)
	switch {
	case e.RecordedOdd && e.Interleavings == 0:
		return by(Harmful, ByOnlyRecorded, "it happened in this recording: the result equals neither order of the two, %s", e.NotSerialWhat)
	case t.crash > 0 && e.Interleavings == 0:
		return by(Harmful, ByFails, "with the other value the function fails: %s", t.crashWhat)
	case e.Interleavings > 0 && e.Failed >= max(1, e.Interleavings/missing):
		return by(Unknown, ByNoOrder, "%d of %d interleavings could not be executed to a comparable end; the others end like one of the two serial orders", e.Failed, e.Interleavings+e.Failed)
	case e.Guarded:
		return by(Synchronisation, ByGuarded, "every interleaving equals a serial order, decided by a load that synchronises")
	case e.OrderFinding != "":
		return by(Harmful, ByChecker, "in one of the two orders, between which nothing decides, %s", e.OrderFinding)
	case e.Interleavings > 0 && !e.OrdersDiffer:
		return by(Benign, ByOrdersAlike, "all %d interleavings and both orders end alike", e.Interleavings)
	case e.Public != "" && t.abnormal > 0:
		return by(Harmful, ByPublicAbnormal, "the order of the two decides what the program puts out, %s, and one of them isn't normal: %s", e.Public, t.abnormalWhat)
	case e.Public != "" && t.normal > 0 && !e.Once:
		return by(Benign, ByPublicNormal, "the order of the two decides what the program puts out, %s, as the function's outputs usually differ", e.Public)
	case e.Public != "" && e.Again:
		return by(Unknown, ByPublic, "each of %d interleavings ends like one of the two serial orders; what the program puts out, %s, shows which, but who looks there does so again and again and may take what comes", e.Interleavings, e.Public)
	case e.Public != "":
		return by(Harmful, ByPublic, "the order of the two, which nothing determines, decides what the program puts out: %s", e.Public)
	case e.Interleavings > 0 && t.abnormal > 0 && !e.Once:
		// A replaced value is a hypothesis, and often one that nothing leads to:
		// one half of a pair that is checked for consistency.
		return by(Benign, ByHypothesis, "each of %d interleavings ends like one of the two serial orders, though %s", e.Interleavings, t.abnormalWhat)
	case e.Interleavings > 0 && e.Gone != "":
		return by(Benign, ByGone, "each of %d interleavings ends like one of the two serial orders, and %s", e.Interleavings, e.Gone)
	case e.Interleavings > 0 && e.Once && e.OrderHint != "":
		return by(Harmful, ByWarning, "the two orders, between which nothing decides, differ for good, and in one of them %s", e.OrderHint)
	case e.Interleavings > 0 && e.Once:
		return by(Unknown, ByOneOrder, "each of %d interleavings ends like one of the two serial orders, which differ for good, and nothing says whether both are right", e.Interleavings)
	case e.Interleavings > 0:
		return by(Benign, BySerialisable, "each of %d interleavings ends like one of the two serial orders", e.Interleavings)
	case t.waits > 0 && t.happened+t.abnormal+t.different == 0:
		return by(Synchronisation, ByWaits, "all that another value makes the reader do is to look again until it changes")
	case t.happened > 0:
		return by(Harmful, ByHappened, "it happened in this recording: what the function did isn't normal, and without the other thread's store it is: %s", t.happenedWhat)
	case t.abnormal > 0:
		return by(Harmful, ByAbnormal, "with the other value the outputs are abnormal: %s", t.abnormalWhat)
	case t.same > 0 && t.different == 0 && t.unknown == 0:
		return by(Benign, ByNoEffect, "no replacement changes any output")
	case t.different > 0 && t.unknown == 0 && e.Gone != "":
		return by(Benign, ByEffectGone, "the other value changes what the function does (%s), but %s", t.differentWhat, e.Gone)
	case t.normal > 0 && t.unknown == 0:
		return by(Benign, ByNormal, "the other value changes what the function does (%s), which stays as it usually is", t.differentWhat)
	case t.different > 0 && t.unknown == 0:
		return by(Unknown, ByChanged, "the other value changes the outputs (%s), and nothing says whether that is normal", t.differentWhat)
	case e.SerialFailed != "":
		return by(Unknown, ByNoOrder, "could not be re-emulated: %s", e.SerialFailed)
	}
	return by(Unknown, ByNothing, "no experiment gave a result")
}

// A count of what trials showed.
type count struct {
	same, different, crash, unknown int
	waits                           int // simulations and corrections in which the section only waits for the location to change
	// abnormal: simulations that lead to something unusual from something usual.
	// normal: ones that lead to something usual. happened: corrections that make
	// something usual of what wasn't.
	abnormal, normal, happened                           int
	crashWhat, abnormalWhat, differentWhat, happenedWhat string
}

func tally(trials []Trial) count {
	var c count
	for _, t := range trials {
		switch {
		case t.Simulate && t.Found != "" && t.Outcome != "crash":
			c.crash++
			c.crashWhat = t.Found
		case !t.Simulate && t.Mended != "":
			c.happened++
			c.happenedWhat = t.Mended
		}
		if t.Waits {
			c.waits++
			continue
		}
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
