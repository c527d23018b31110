package races

// races computes the set of events that must come before both accesses and
// says whether it has neither of them.
func (p *Predictor) races(x, y *predAccess) bool { return p.meet(x.before, y.before) }

// reversed is races for executions in which a thread enters the critical section
// around its access last, whatever the recorded order was: all else takes place
// as races has it, then the thread takes its locks and goes on to the access.
// It does what it did if it reads nothing on the way (but for blind updates).
// This is the simplest of sync-reversals (Shi, Mathur, Pavlogiannis, ICSE
// 2024).
func (p *Predictor) reversed(x, y *predAccess) bool {
	return x.pure && p.meet(x.outer, y.before) && p.free(x.locks) ||
		y.pure && p.meet(x.before, y.outer) && p.free(y.locks) ||
		x.pure && y.pure && p.meet(x.outer, y.outer) && p.free(x.locks) && p.free(y.locks)
}

// free says whether nobody holds any lock of a set after the events in p.set.
func (p *Predictor) free(locks lockSetNum) bool {
	for _, h := range p.sets[locks] {
		l := p.locks[h.addr]
		if l == nil {
			return false
		}
		for slot := range l.threads {
			c, known := l.threads[slot].before(p.set[slot])
			if !known || c != nil && (c.end.n == 0 || c.end.n > p.set[slot]) {
				return false
			}
		}
	}
	return true
}

// meet computes the set of events that must come before the next ones after the
// moments x and y, and says whether it has neither of these.
func (p *Predictor) meet(x, y moment) bool {
	s := p.set[:0]
	for range p.slots {
		s = append(s, 0)
	}
	p.set = s
	include := func(m moment) bool {
		old := s[m.slot]
		changed := s.join(p.clocks[m.knows])
		if m.n > old {
			s[m.slot] = max(s[m.slot], m.n)
			changed = true
		}
		return changed
	}
	has := func(m moment) bool { return s[m.slot] > m.n }
	include(x)
	include(y)
	for changed := true; changed; {
		if has(x) || has(y) {
			return false
		}
		changed = false
		for _, l := range p.contended {
			ok, more := p.close(l, s, include)
			if !ok {
				return false
			}
			changed = changed || more
		}
	}
	return true
}

// close adds what lock l asks for: of the critical sections that the set s has
// begun, all but the one that began last must be complete. ok is false if that
// can't be: a section was never left, or is too old to be known.
func (p *Predictor) close(l *predLock, s clock, include func(moment) bool) (ok, changed bool) {
	var last *section
	for slot := range l.threads {
		c, known := l.threads[slot].before(s[slot])
		if !known {
			return false, false
		}
		if c == nil {
			continue
		}
		if last == nil {
			last = c
			continue
		}
		earlier := c
		if c.at > last.at {
			earlier, last = last, c
		}
		if earlier.end.n == 0 {
			return false, false
		}
		if include(earlier.end) {
			changed = true
		}
	}
	return true, changed
}

// before returns the last section that begins within the first n events of its
// thread, nil if none does. It isn't known if sections were dropped there.
func (s *predSections) before(n uint32) (c *section, known bool) {
	lo, hi := 0, len(s.list)
	for lo < hi {
		m := (lo + hi) / 2
		if s.list[m].start <= n {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 {
		return nil, s.dropped == 0 || n == 0
	}
	return &s.list[lo-1], true
}
