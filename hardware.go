package racesim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/report"
	"github.com/racesim/racesim/traces"
)

// A hardwareUse is what one unit did, or all of them for one thread: what the
// recording counted, and the accesses, which a replay counts.
type hardwareUse struct {
	name     string
	accesses uint64 // lines touched by loads and stores; one that straddles touches two
	counters map[string]uint64
	counted  bool // the counters are of these accesses
}

// add adds what the counters say from before to now, the texts of marks.
func (u *hardwareUse) add(before, now string) {
	for sign, text := range map[uint64]string{1: now, ^uint64(0): before} {
		for _, f := range strings.Fields(text) {
			name, value, _ := strings.Cut(f, "=")
			if n, err := strconv.ParseUint(value, 10, 64); err == nil {
				u.counters[name] += sign * n
			}
		}
	}
}

// WriteHardware writes, for people, what the recording's caches did, and the
// lines that moved most between threads. It replays the trace, which must be
// independent.
func (t *Trace) WriteHardware(ctx context.Context, w io.Writer, lines int) error {
	var b strings.Builder
	h := t.r.Header()
	fmt.Fprintf(&b, "hardware     %s\n", h.Hardware)
	if h.CodeLog != "" {
		fmt.Fprintf(&b, "code log     %s: of the code caches, only what the program makes is counted unless they were asked for\n", h.CodeLog)
	}
	units := make([]hardwareUse, h.Cores)
	all := hardwareUse{name: "all", counters: map[string]uint64{}, counted: true}
	for i := range units {
		units[i] = hardwareUse{name: fmt.Sprintf("unit %d", i), counters: map[string]uint64{}, counted: true}
	}
	apart := false
	for _, c := range t.s.Counters() {
		var u int
		var name string
		if n, _ := fmt.Sscanf(strings.Replace(c.Name, ".", " ", 1), "unit%d %s", &u, &name); n == 2 && u < len(units) {
			units[u].counters[name], apart = c.Value, true
			continue
		}
		all.counters[c.Name] = c.Value
	}
	byUnit, threads, err := t.countAccesses(ctx, len(units))
	if err != nil {
		return err
	}
	for i := range units {
		units[i].accesses = byUnit[i].accesses
		all.accesses += units[i].accesses
	}
	switch {
	case t.s.Begin() == 0 && t.s.PartOf() == "" && len(all.counters) > 0:
		if !apart {
			units = nil
		}
	case h.Ring != "":
		b.WriteString("of what the ring kept, by threads:\n")
		units, all = threads, total(threads)
	default:
		b.WriteString("of what the trace has:\n")
		units, all = byUnit, total(byUnit)
	}
	writeCaches(&b, append(units, all))
	if !all.counted {
		fmt.Fprintf(&b, "\nhits aren't known where the trace lacks counters (%s): record with --marks counters\n", t.why())
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return t.writeMoved(ctx, w, lines)
}

// total sums up.
func total(uses []hardwareUse) hardwareUse {
	all := hardwareUse{name: "all", counters: map[string]uint64{}, counted: true}
	for _, u := range uses {
		all.accesses += u.accesses
		all.counted = all.counted && (u.counted || u.accesses == 0)
		for name, n := range u.counters {
			all.counters[name] += n
		}
	}
	return all
}

// why says why a trace lacks what stands at the end of a whole one.
func (t *Trace) why() string {
	switch {
	case t.Incomplete() != "":
		return t.Incomplete()
	case t.s.PartOf() != "":
		return "it is a part of a recording"
	}
	return "it isn't a recording"
}

// A cacheTable is what is shown of one kind of cache, by the counters' names.
type cacheTable struct {
	title string
	// What it was asked for, hits and misses together: "" is the accesses, which
	// replaying counts.
	asked, misses string
	hits          string // instead of asked
	columns       []column
}

type column struct{ title, name string }

var cacheTables = []cacheTable{
	{"L1 data", "", "l1.misses", "", []column{{"misses", "l1.misses"}, {"from cores", "coherence.transfers"}, {"from L2", "l2.hits"}, {"from LLC", "llc.hits"}, {"from memory", "llc.misses"},
		{"invalidated", "coherence.invalidations"}, {"downgraded", "coherence.downgrades"}, {"upgrades", "coherence.upgrades"},
		{"evictions", "l1.evictions"}, {"write-backs", "l1.writebacks"}, {"of siblings", "core.siblinghits"}}},
	{"L1 code", "l1i.fetches", "l1i.misses", "", []column{{"misses", "l1i.misses"}, {"invalidated", "l1i.invalidations"}, {"evictions", "l1i.evictions"}}},
	{"L2", "", "l2.misses", "l2.hits", []column{{"misses", "l2.misses"}, {"evictions", "l2.evictions"}}},
	{"LLC", "", "llc.misses", "llc.hits", []column{{"misses", "llc.misses"}, {"evictions", "llc.evictions"}}},
	{"TLB", "", "tlb.misses", "", []column{{"misses", "tlb.misses"}, {"flushes", "tlb.flushes"}, {"evictions", "tlb.evictions"}}},
}

// optional are columns that are left out where nothing was counted.
var optional = map[string]bool{"l2.hits": true, "core.siblinghits": true}

// writeCaches writes a table for each kind of cache that was used; the last of
// uses is the sum of the others.
func writeCaches(b *strings.Builder, uses []hardwareUse) {
	all := &uses[len(uses)-1]
	for _, ct := range cacheTables {
		if ct.title != "L1 data" && all.counters[ct.misses] == 0 && all.counters[ct.asked] == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%-10s %14s %14s %8s", ct.title, "accesses", "hits", "of them")
		for _, c := range ct.columns {
			if !optional[c.name] || all.counters[c.name] > 0 {
				fmt.Fprintf(b, " %11s", c.title)
			}
		}
		b.WriteString("\n")
		for i := range uses {
			u := &uses[i]
			if u != all && u.accesses == 0 && len(u.counters) == 0 {
				continue
			}
			fmt.Fprintf(b, "%-10s", u.name)
			n := u.accesses
			switch {
			case ct.hits != "":
				n = u.counters[ct.hits] + u.counters[ct.misses]
			case ct.asked != "":
				n = u.counters[ct.asked]
			}
			if !u.counted {
				fmt.Fprintf(b, " %14d %14s %8s\n", u.accesses, "?", "?")
				continue
			}
			hits := n - min(n, u.counters[ct.misses])
			fmt.Fprintf(b, " %14d %14d %7.3f%%", n, hits, 100*float64(hits)/float64(max(n, 1)))
			for _, c := range ct.columns {
				if !optional[c.name] || all.counters[c.name] > 0 {
					fmt.Fprintf(b, " %11d", u.counters[c.name])
				}
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
}

// countAccesses replays all threads and counts what each unit and each thread
// accessed, with the counters that marks in the threads' streams give: those of
// units by slices, those of threads since a ring's beginning.
func (t *Trace) countAccesses(ctx context.Context, n int) (units, threads []hardwareUse, err error) {
	ids := t.s.Threads()
	threads = make([]hardwareUse, len(ids))
	by := make([]map[int]*hardwareUse, len(ids))
	errs := make([]error, len(ids))
	var wait sync.WaitGroup
	free := make(chan struct{}, 4)
	for i, id := range ids {
		wait.Add(1)
		go func() {
			defer wait.Done()
			free <- struct{}{}
			defer func() { <-free }()
			threads[i] = hardwareUse{name: fmt.Sprintf("thread %d", id), counters: map[string]uint64{}}
			by[i], errs[i] = t.countThread(ctx, id, &threads[i])
		}()
	}
	wait.Wait()
	units = make([]hardwareUse, n)
	for i := range units {
		u := &units[i]
		*u = hardwareUse{name: fmt.Sprintf("unit %d", i), counters: map[string]uint64{}, counted: true}
		for _, m := range by {
			if o := m[i]; o != nil {
				u.accesses += o.accesses
				u.counted = u.counted && (o.counted || o.accesses == 0)
				for name, n := range o.counters {
					u.counters[name] += n
				}
			}
		}
	}
	return units, threads, errors.Join(errs...)
}

// countThread replays a thread and returns what it did, by unit, and adds it to
// all.
func (t *Trace) countThread(ctx context.Context, id emulate.ThreadID, all *hardwareUse) (map[int]*hardwareUse, error) {
	th, err := t.s.Thread(id)
	if err != nil {
		return nil, err
	}
	c := &accessCounter{}
	th.Observe(nil, true, c)
	th.Want = replay.Kinds(traces.Switch, traces.Mark)
	by := map[int]*hardwareUse{}
	use := func(unit int) *hardwareUse {
		if by[unit] == nil {
			by[unit] = &hardwareUse{counters: map[string]uint64{}}
		}
		return by[unit]
	}
	unit, first := 0, ""
	begun := th.Count() == 0 // else the counters at its beginning come first
	for {
		ev, err := th.Step()
		if err == nil {
			err = ctx.Err()
		}
		use(unit).accesses += c.n
		all.accesses += c.n
		c.n = 0
		if errors.Is(err, io.EOF) {
			return by, nil
		}
		if err != nil {
			return nil, err
		}
		switch p := ev.Packet; {
		case ev.Kind == traces.Switch && p.In:
			unit = int(p.Unit)
		case ev.Kind == traces.Mark && p.Name == traces.MarkCounters:
			use(int(p.Value)).counted = true
			use(int(p.Value)).add("", string(p.Bytes))
		case ev.Kind == traces.Mark && p.Name == traces.MarkCounted && !begun:
			first, begun = string(p.Bytes), true
		case ev.Kind == traces.Mark && p.Name == traces.MarkCounted:
			clear(all.counters)
			all.add(first, string(p.Bytes))
			all.counted = true
		}
	}
}

// An accessCounter is an x86.Watcher that counts lines.
type accessCounter struct{ n uint64 }

func (a *accessCounter) touch(addr uint64, size int) {
	a.n += (addr+uint64(size)-1)>>6 - addr>>6 + 1
}

// Load serves x86.Watcher.
func (a *accessCounter) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	a.touch(addr, size)
	return v
}

// Store serves x86.Watcher.
func (a *accessCounter) Store(c *x86.CPU, addr uint64, size int, v uint64) { a.touch(addr, size) }

// writeMoved writes the lines that moved most between threads.
func (t *Trace) writeMoved(ctx context.Context, w io.Writer, most int) error {
	a := &analysis{t: t, o: AnalyzeOptions{CheckersOnly: true}, rep: &report.Report{}, ms: t.modules()}
	defer a.drop()
	defer limitMemory(a.o.memory())()
	if err := a.detect(ctx, true); err != nil {
		return err
	}
	var b strings.Builder
	moved := a.pass.Moved(2, 1)
	falsely := 0
	for _, l := range moved {
		if l.False {
			falsely++
		}
	}
	fmt.Fprintf(&b, "%s moved between threads, %d of them though each thread uses bytes of its own (false sharing)\n", plural(uint64(len(moved)), "line"), falsely)
	if n := min(most, len(moved)); n > 0 {
		fmt.Fprintf(&b, "\n%-18s %9s  %-7s  by\n", "line", "moves", "sharing")
		for _, l := range moved[:n] {
			kind := "true"
			if l.False {
				kind = "FALSE"
			}
			var users []string
			for _, u := range l.Users {
				verb := "reads"
				if u.Writes {
					verb = "writes"
				}
				name := a.name(uint64(u.Addr))
				if name == "" {
					name = fmt.Sprintf("0x%x", uint64(u.Addr))
				}
				users = append(users, fmt.Sprintf("thread %d %s %s", u.Thread, verb, name))
			}
			fmt.Fprintf(&b, "0x%-16x %9d  %-7s  %s\n", l.Line<<6, l.Transfers, kind, strings.Join(users, ", "))
		}
	}
	if n := len(moved) - most; n > 0 {
		fmt.Fprintf(&b, "%d more with --lines %d\n", n, len(moved))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
