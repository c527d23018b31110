package classify

import (
	"strings"
	"testing"
)

func TestVerdicts(t *testing.T) {
	usual := Opinion{Known: true, Normal: true, Score: 1}
	odd := Opinion{Known: true, Score: 0.005, Why: "x is 9"}
	simulated := func(o, recorded Opinion) Trial {
		return Trial{Simulate: true, Outcome: "different", Opinion: o, Recorded: recorded, What: "x is 9 instead of 1"}
	}
	corrected := func(o, recorded Opinion) Trial {
		return Trial{Outcome: "different", Opinion: o, Recorded: recorded, What: "x is 1 instead of 9"}
	}
	for _, c := range []struct {
		name    string
		e       Evidence
		verdict string
		why     string
	}{
		{"freed", Evidence{Freed: true}, Harmful, "freed"},
		{"life", Evidence{Life: "it is destroyed"}, Harmful, "destroyed while the other thread may use it"},
		{"a spin", Evidence{Spin: true}, Synchronisation, "waits"},
		{"an interleaving like no order", Evidence{Interleavings: 9, NotSerialisable: 1, NotSerialWhat: "n is 1"}, Harmful, "1 of 9"},
		{"as recorded", Evidence{Interleavings: 9, NotSerialisable: 1, RecordedOdd: true, NotSerialWhat: "n is 1"}, Harmful, "it happened"},
		{"as recorded, and no order comes there", Evidence{RecordedOdd: true, NotSerialWhat: "n is 1"}, Harmful, "it happened"},
		{"nothing differs", Evidence{Interleavings: 9}, Benign, "end alike"},
		{"orders differ", Evidence{Interleavings: 9, OrdersDiffer: true}, Benign, "one of the two"},
		{"orders differ, and it is gone", Evidence{Interleavings: 9, OrdersDiffer: true, Gone: "it is gone when f returns"}, Benign, "gone when f"},
		{"the world sees the order", Evidence{Interleavings: 9, OrdersDiffer: true, Once: true, Public: "a or b"}, Harmful, "puts out: a or b"},
		{"the world sees the order, of one who looks often", Evidence{Interleavings: 9, OrdersDiffer: true, Again: true, Public: "a or b"}, Unknown, "again and again"},
		{"what they leave is made up for", Evidence{Interleavings: 9, NotSerialisable: 1, OrdersDiffer: true, Healed: "f returns"}, Harmful, "gone when f returns"},
		{"what nobody reads", Evidence{Interleavings: 4, NotSerialisable: 2, NotSerialWhat: "n is 1 instead of 2", Unread: true}, Harmful, "n is 1 instead of 2; nothing reads it later"},
		{"a lock that lets two in", Evidence{BothPass: true}, Harmful, "keeps nobody out"},
		{"the world sees the order, as usual", Evidence{Interleavings: 9, OrdersDiffer: true, Public: "a or b", Trials: []Trial{simulated(usual, usual)}}, Benign, "usually"},
		{"the world sees something odd", Evidence{Interleavings: 9, OrdersDiffer: true, Public: "a or b", Trials: []Trial{simulated(odd, usual)}}, Harmful, "x is 9"},
		{"a hypothesis that no schedule leads to", Evidence{Interleavings: 9, OrdersDiffer: true, Trials: []Trial{simulated(odd, usual)}}, Benign, "though x is 9"},
		{"odd with the other value", Evidence{Trials: []Trial{simulated(odd, usual)}}, Harmful, "abnormal: x is 9"},
		{"odd before as well", Evidence{Trials: []Trial{simulated(odd, odd)}}, Unknown, "nothing says"},
		{"corrected", Evidence{Trials: []Trial{corrected(usual, odd)}}, Harmful, "it happened"},
		{"corrected, though the orders explain it", Evidence{Interleavings: 9, OrdersDiffer: true, Trials: []Trial{corrected(usual, odd)}}, Benign, "one of the two"},
		{"no opinion", Evidence{Trials: []Trial{simulated(Opinion{}, Opinion{})}}, Unknown, "nothing says"},
		{"another value, as usual", Evidence{Trials: []Trial{simulated(usual, usual)}}, Benign, "usually"},
		{"nothing changes", Evidence{Trials: []Trial{{Simulate: true, Outcome: "same"}}}, Benign, "no replacement"},
		{"a crash", Evidence{Trials: []Trial{{Simulate: true, Outcome: "crash", What: "page fault"}}}, Harmful, "page fault"},
		{"predicted, and the recording is odd, too", Evidence{Predicted: true, RecordedOdd: true, Interleavings: 4, NotSerialisable: 2, NotSerialWhat: "x is 8"}, Unknown, "neither order"},
		{"one look, and two outcomes", Evidence{Interleavings: 9, OrdersDiffer: true, Once: true}, Unknown, "differ for good"},
		{"one look, and the difference is gone", Evidence{Interleavings: 9, OrdersDiffer: true, Once: true, Gone: "it is gone"}, Benign, "it is gone"},
		{"the telling half didn't end", Evidence{Interleavings: 32, Failed: 16, OrdersDiffer: true}, Unknown, "16 of 48"},
		{"hardly any didn't end", Evidence{Interleavings: 32, Failed: 2, OrdersDiffer: true}, Benign, "32 interleavings"},
		{"nothing", Evidence{SerialFailed: "too long"}, Unknown, "too long"},
	} {
		j := Judge(c.e)
		if p := j.Confidence; j.Verdict != c.verdict || p < 0 || p >= 1 || (p == 0) != (j.Verdict == Unknown) || j.Basis == "" || !strings.Contains(j.Reason, c.why) {
			t.Errorf("%s: %+v; want %s because %q", c.name, j, c.verdict, c.why)
		}
	}
}

// A reader that looks again with the other value hasn't failed.
func TestWaitingIsNoFailure(t *testing.T) {
	spun := Trial{Outcome: "hang", Waits: true, What: "loops until the variable changes"}
	j := Judge(Evidence{SerialFailed: "hang", Trials: []Trial{spun}})
	if j.Verdict != Synchronisation || j.Basis != ByWaits {
		t.Errorf("%+v", j)
	}
	spun.Waits = false
	if j = Judge(Evidence{SerialFailed: "hang", Trials: []Trial{spun}}); j.Verdict != Harmful {
		t.Errorf("%+v", j)
	}
}
