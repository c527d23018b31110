package loadsub

import (
	"slices"

	"github.com/racesim/racesim/emulate/overlay"
)

// A result like that of neither order may be passing: an iteration that looked
// too early is made up for by the next one, or what was left over is overwritten.
// So the interleavings that end like neither order are executed on beyond the
// sections, as are the orders, all with the same continuation.

// maxOdd bounds the interleavings that are remembered for that.
const maxOdd = 12

// Later says in what memory the odd interleavings of s still differ from the
// orders when the longer sections a and b end, which begin like p.A and p.B:
// none if what they changed is gone. ok is false if that isn't known, or if they
// differ in more than memory.
func (p Pair) Later(s *Serial, a, b *overlay.Section) (left []overlay.Span, ok bool) {
	if len(s.odds) == 0 || !a.Complete || !b.Complete {
		return nil, false
	}
	p.Racy = s.racy
	long := p
	long.A, long.B = a, b
	pre := long.preStates()[0]
	orders := [2][2]int{p.ends(s.pre, 0), p.ends(s.pre, 1)}
	for then := range 2 {
		var refs []*overlay.Result
		for first := range orders {
			r := long.start(pre)
			goTo(r, first, orders[first])
			goTo(r, 1-first, orders[first])
			r.Settle(then)
			if x := r.Result(); comparable(x) {
				refs = append(refs, x)
			}
		}
		if len(refs) == 0 {
			return nil, false
		}
		for _, odd := range s.odds {
			r := long.start(pre)
			if !reach(r, odd.First, odd.At) || odd.Then.N > 0 && !reach(r, 1-odd.First, odd.Then) {
				return nil, false
			}
			goTo(r, 1-odd.First, odd.hits)
			goTo(r, odd.First, odd.hits)
			goTo(r, 1-odd.First, odd.hits)
			r.Settle(then)
			x := r.Result()
			if !comparable(x) {
				return nil, false
			}
			var least []Output
			for k, ref := range refs {
				if d := long.diff(ref, x, maxLeft); k == 0 || len(d) < len(least) {
					least = d
				}
			}
			if len(least) == maxLeft {
				return nil, false
			}
			for i := range least {
				o := &least[i]
				if o.Addr == 0 || a.OnStack(o.Addr) || b.OnStack(o.Addr) {
					return nil, false
				}
				if sp := (overlay.Span{Addr: o.Addr, N: uint64(o.Size)}); !slices.Contains(left, sp) {
					left = append(left, sp)
				}
			}
		}
	}
	return left, true
}

// maxLeft bounds the differences that are looked at.
const maxLeft = 16

// oddly is an interleaving that ends like neither order.
type oddly struct {
	Schedule
	hits [2]int // racing accesses of the two sections until their ends
}

// ends counts the racing accesses of both sections in one of the orders.
func (p Pair) ends(pre *overlay.Memory, first int) [2]int {
	r := p.start(pre)
	r.Go(first)
	r.Go(1 - first)
	r.Settle(first)
	return [2]int{r.Hits(0), r.Hits(1)}
}

// goTo runs a section until it is about to do one racing access more than it has
// to its end in the shorter one.
func goTo(r *overlay.Run, part int, hits [2]int) { r.GoBefore(part, hits[part]+1) }
