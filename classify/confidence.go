package classify

// A Basis names the kind of evidence that decided a verdict.
type Basis string

// Bases, by what was seen.
const (
	ByFreed           Basis = "freed"            // one side is the release of the block
	BySpin            Basis = "spin"             // with the other value the reader only waits
	ByAsRecorded      Basis = "as-recorded"      // what was recorded, and an interleaving, equal neither order
	ByNotSerialisable Basis = "not-serialisable" // an interleaving equals neither order
	ByOnlyRecorded    Basis = "only-recorded"    // what was recorded equals neither order, and nothing could be interleaved
	ByFails           Basis = "fails"            // a replaced value makes a section fail, and nothing could be interleaved
	ByGuarded         Basis = "guarded"          // a load that synchronises decides between the orders
	ByOrdersAlike     Basis = "orders-alike"     // all interleavings and both orders end alike
	ByPublicAbnormal  Basis = "public-abnormal"  // the order decides what the program puts out, and one isn't normal
	ByPublicNormal    Basis = "public-normal"    // … and both are normal
	ByPublic          Basis = "public"           // … and nothing says what is normal
	ByHypothesis      Basis = "hypothesis"       // interleavings equal the orders, but a replaced value makes outputs abnormal
	ByGone            Basis = "gone"             // interleavings equal the orders, and what differs between these ends in the program
	BySerialisable    Basis = "serialisable"     // interleavings equal the orders
	ByHappened        Basis = "happened"         // outputs weren't normal, and are with the other value
	ByAbnormal        Basis = "abnormal"         // with the other value outputs aren't normal
	ByNoEffect        Basis = "no-effect"        // no replaced value changes an output
	ByEffectGone      Basis = "effect-gone"      // what a replaced value changes ends in the program
	ByNormal          Basis = "normal"           // what a replaced value changes stays normal
	ByChanged         Basis = "changed"          // a replaced value changes outputs, and nothing says what is normal
	ByNoOrder         Basis = "no-order"         // an order could not be re-emulated
	ByNothing         Basis = "nothing"          // no experiment gave a result
)

// Confidence is the probability that a verdict is right.
func Confidence(e *Evidence, j *Judgement) float64 {
	if j.Verdict == Unknown {
		return 0
	}
	return usual[j.Basis]
}

// usual is how often verdicts are right.
var usual = map[Basis]float64{
	ByFreed: 0.9, BySpin: 0.9, ByAsRecorded: 0.97, ByNotSerialisable: 0.92, ByOnlyRecorded: 0.85, ByFails: 0.85, ByGuarded: 0.7,
	ByOrdersAlike: 0.9, ByPublicAbnormal: 0.75, ByPublicNormal: 0.6, ByPublic: 0.6, ByHypothesis: 0.6, ByGone: 0.85, BySerialisable: 0.75,
	ByHappened: 0.75, ByAbnormal: 0.7, ByNoEffect: 0.7, ByEffectGone: 0.7, ByNormal: 0.65,
}
