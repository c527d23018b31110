// Package hwmodel models processing units, their private caches, the shared
// last-level cache and the coherence between them, and keeps account of which
// thread's stream holds which line. It says what flows in; it knows no file, no
// instruction set and no operating system.
//
// A Machine has cores with private caches, and each core one or more units, its
// hardware threads; each has a Window, the lines that whoever runs there may
// touch without asking. What a unit's core has, another core's access takes away;
// what its window allows, another unit's of the same core does, too: to hit in
// one cache isn't to know the same lines. What the window doesn't answer goes through
// Machine.Access, and then, for a recording:
//
//	may := m.Access(unit, l, vline, write) // the line is in the unit's cache now
//	if !k.Known(vline, l) {
//		... log the line's bytes ...
//		k.Learn(vline, l)
//	}
//	if write {
//		m.Claim(k, vline, l) // nobody else knows the line now
//	}
//	if l.Touch(thread, vline, write) {
//		... vline is shared by threads ...
//	}
//	m.Window(unit).Allow(vline, bytes, write && may)
//
// A Window must be cleared when its unit switches to another thread.
//
// A Machine, its lines and everything made from it belong to one goroutine.
//
// Sources: Papamarcos and Patel, A low-overhead coherence solution (MESI), 1984;
// Sweazey and Smith, A class of compatible cache consistency protocols (MOESI),
// 1986; Goodman and Hum, MESIF, 2009; AMD64 manual volume 2, section 7.3.
package hwmodel
