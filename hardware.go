package racesim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/report"
	"github.com/racesim/racesim/traces"
)

// unitUse is what one unit did: what the recording counted, and the accesses,
// which a replay counts.
type unitUse struct {
	accesses uint64 // lines touched by loads and stores; one that straddles touches two
	counters map[string]uint64
}

// WriteHardware writes, for people, what the recording's caches did, and the
// lines that moved most between threads. It replays the trace, which must be
// independent.
func (t *Trace) WriteHardware(ctx context.Context, w io.Writer, lines int) error {
	var b strings.Builder
	h := t.r.Header()
	fmt.Fprintf(&b, "hardware     %s\n", h.Hardware)
	units := make([]unitUse, h.Cores)
	all := map[string]uint64{}
	for i := range units {
		units[i].counters = map[string]uint64{}
	}
	apart := false
	for _, c := range t.s.Counters() {
		var u int
		var name string
		if n, _ := fmt.Sscanf(strings.Replace(c.Name, ".", " ", 1), "unit%d %s", &u, &name); n == 2 && u < len(units) {
			units[u].counters[name], apart = c.Value, true
			continue
		}
		all[c.Name] = c.Value
	}
	switch {
	case len(all) == 0:
		fmt.Fprintf(&b, "the trace has no counters: %s\n", t.why())
	case t.s.Begin() > 0 || t.Incomplete() != "":
		fmt.Fprintf(&b, "the trace doesn't hold all that the counters are of: hits aren't known\n")
		t.unitTable(&b, units, all, apart, false)
	default:
		if err := t.countAccesses(ctx, units); err != nil {
			return err
		}
		t.unitTable(&b, units, all, apart, true)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return t.writeMoved(ctx, w, lines)
}

// why says why a trace lacks what stands at the end of a whole one.
func (t *Trace) why() string {
	if s := t.Incomplete(); s != "" {
		return s
	}
	return "it isn't a recording"
}

// hwColumns are what the table of units shows, by the counters' names.
var hwColumns = []struct{ title, name string }{
	{"misses", "l1.misses"}, {"from units", "coherence.transfers"}, {"from LLC", "llc.hits"}, {"from memory", "llc.misses"},
	{"invalidated", "coherence.invalidations"}, {"downgraded", "coherence.downgrades"}, {"upgrades", "coherence.upgrades"},
	{"evictions", "l1.evictions"}, {"write-backs", "l1.writebacks"},
}

func (t *Trace) unitTable(b *strings.Builder, units []unitUse, all map[string]uint64, apart, hits bool) {
	fmt.Fprintf(b, "\n%-6s", "L1 of")
	if hits {
		fmt.Fprintf(b, " %14s %14s %8s", "accesses", "hits", "of them")
	}
	for _, c := range hwColumns {
		fmt.Fprintf(b, " %11s", c.title)
	}
	b.WriteString("\n")
	row := func(name string, accesses uint64, counters map[string]uint64) {
		fmt.Fprintf(b, "%-6s", name)
		if hits {
			n := accesses - min(accesses, counters["l1.misses"])
			fmt.Fprintf(b, " %14d %14d %7.3f%%", accesses, n, 100*float64(n)/float64(max(accesses, 1)))
		}
		for _, c := range hwColumns {
			fmt.Fprintf(b, " %11d", counters[c.name])
		}
		b.WriteString("\n")
	}
	var sum uint64
	for i := range units {
		sum += units[i].accesses
		if apart {
			row(fmt.Sprintf("unit %d", i), units[i].accesses, units[i].counters)
		}
	}
	row("all", sum, all)
	n := all["llc.hits"] + all["llc.misses"]
	fmt.Fprintf(b, "\nlast-level cache: %d hits, %d misses (%.1f%% hits), %d evictions\n", all["llc.hits"], all["llc.misses"], 100*float64(all["llc.hits"])/float64(max(n, 1)), all["llc.evictions"])
	if n := all["tlb.misses"]; n > 0 {
		fmt.Fprintf(b, "TLBs: %d misses, %d evictions, %d flushes\n", n, all["tlb.evictions"], all["tlb.flushes"])
	}
}

// countAccesses replays all threads and counts what each unit accessed.
func (t *Trace) countAccesses(ctx context.Context, units []unitUse) error {
	ids := t.s.Threads()
	errs := make([]error, len(ids))
	var mu sync.Mutex
	var wait sync.WaitGroup
	free := make(chan struct{}, 4)
	for i, id := range ids {
		wait.Add(1)
		go func() {
			defer wait.Done()
			free <- struct{}{}
			defer func() { <-free }()
			by, err := t.countThread(ctx, id)
			errs[i] = err
			mu.Lock()
			defer mu.Unlock()
			for u, n := range by {
				if u < len(units) {
					units[u].accesses += n
				}
			}
		}()
	}
	wait.Wait()
	return errors.Join(errs...)
}

// countThread returns the lines that a thread touched, by unit.
func (t *Trace) countThread(ctx context.Context, id emulate.ThreadID) (map[int]uint64, error) {
	th, err := t.s.Thread(id)
	if err != nil {
		return nil, err
	}
	c := &accessCounter{}
	th.Observe(nil, true, c)
	th.Want = replay.Kinds(traces.Switch)
	by := map[int]uint64{}
	unit := 0
	for {
		ev, err := th.Step()
		if err == nil {
			err = ctx.Err()
		}
		by[unit] += c.n
		c.n = 0
		if errors.Is(err, io.EOF) {
			return by, nil
		}
		if err != nil {
			return nil, err
		}
		if ev.Kind == traces.Switch && ev.Packet.In {
			unit = int(ev.Packet.Unit)
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
