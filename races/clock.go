package races

// A clock is a vector clock: for each slot, the last epoch that is ordered
// before its owner. Missing entries are 0.
type clock []uint32

// join makes c the least upper bound of c and o, and says whether c changed.
// c is at least as long as o.
func (c clock) join(o clock) bool {
	c = c[:len(c)]
	if len(o) > len(c) {
		panic("BUG: races: joining a clock with a longer one")
	}
	changed := false
	for i, v := range o {
		if v > c[i] {
			c[i] = v
			changed = true
		}
	}
	return changed
}

// news says whether o has an entry greater than c's.
func (c clock) news(o clock) bool {
	for i, v := range o {
		if i >= len(c) {
			if v > 0 {
				return true
			}
		} else if v > c[i] {
			return true
		}
	}
	return false
}

// set makes *c a copy of o, reusing its memory.
func (c *clock) set(o clock) { *c = append((*c)[:0], o...) }

// grow makes *c at least n long.
func (c *clock) grow(n int) {
	for len(*c) < n {
		*c = append(*c, 0)
	}
}

// A clocks pair is one moment in both orders. user is never greater than full.
type clocks struct{ user, full clock }

// acquire joins l into c and says whether that brought anything new.
func (c *clocks) acquire(l *clocks, s Scope) bool {
	n := c.full.join(l.full)
	if s == ScopeUser && c.user.join(l.user) {
		n = true
	}
	return n
}

// news says whether acquire would change c.
func (c *clocks) news(l *clocks, s Scope) bool {
	return c.full.news(l.full) || s == ScopeUser && c.user.news(l.user)
}

// release joins c into l: earlier releases stay visible.
func (l *clocks) release(c *clocks, s Scope) {
	l.full.grow(len(c.full))
	l.full.join(c.full)
	if s == ScopeUser {
		l.user.grow(len(c.user))
		l.user.join(c.user)
	}
}

// overwrite replaces what l holds by c. A store that is internal to the
// run-time leaves the user order alone, and so keeps it within the full one.
func (l *clocks) overwrite(c *clocks, s Scope) {
	l.full.set(c.full)
	if s == ScopeUser {
		l.user.set(c.user)
		return
	}
	l.full.join(l.user)
}
