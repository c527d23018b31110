package replay

import (
	"context"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/traces"
)

// Chunks whose threads depend on one another replay bit for bit in whatever
// order keeps what each comes after: causality between chunks is all there is.
func TestChunksReplayInEveryOrderThatKeepsCausality(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "guest")
	if b, err := exec.Command("gcc", "-O1", "-w", "-pthread", "-o", bin, "testdata/threads.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, b)
	}
	s := recordedCCP(t, dir, bin)
	chunks, err := s.Chunks()
	if err != nil {
		t.Fatal(err)
	}
	across, last := 0, uint64(0)
	for i, c := range chunks {
		if c.Min <= last {
			t.Fatalf("chunk %d has mark %d after %d", i, c.Min, last)
		}
		last = c.Min
		for _, j := range c.After {
			if j >= i {
				t.Fatalf("chunk %d comes after chunk %d", i, j)
			}
			if chunks[j].Thread != c.Thread {
				across++
			}
		}
	}
	if len(chunks) < 100 || across < 50 {
		t.Fatalf("%d chunks with %d causes in other threads", len(chunks), across)
	}
	moved := 0
	for seed := range int64(5) {
		moved += replayChunks(t, s, chunks, rand.New(rand.NewSource(seed)))
	}
	if moved == 0 {
		t.Error("every order was that of the recording")
	}
	// An order that doesn't keep causality is noticed.
	broken := append([]Chunk(nil), chunks...)
	for i := range broken {
		var own []int
		for _, j := range broken[i].After {
			if chunks[j].Thread == chunks[i].Thread {
				own = append(own, j)
			}
		}
		broken[i].After = own
	}
	wrong := 0
	for seed := range int64(5) {
		if tryChunks(t, s, broken, rand.New(rand.NewSource(seed)), new(int)) != nil {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("orders without causality replay, too")
	}
}

func replayChunks(t *testing.T, s *Session, chunks []Chunk, r *rand.Rand) (moved int) {
	if err := tryChunks(t, s, chunks, r, &moved); err != nil {
		t.Fatal(err)
	}
	return moved
}

// tryChunks executes chunks one by one in a random order that keeps After. A
// line comes from the memory that the other thread has then.
func tryChunks(t *testing.T, s *Session, chunks []Chunk, r *rand.Rand, moved *int) error {
	threads := map[emulate.ThreadID]*Thread{}
	now := func(source emulate.ThreadID, line uint64) *[traces.LineSize]byte {
		if threads[source] == nil {
			return nil
		}
		return threads[source].mem.Line(line)
	}
	waits, then := make([]int, len(chunks)), make([][]int, len(chunks))
	var ready []int
	for i, c := range chunks {
		waits[i] = len(c.After)
		for _, j := range c.After {
			then[j] = append(then[j], i)
		}
		if len(c.After) == 0 {
			ready = append(ready, i)
		}
	}
	for done := 0; len(ready) > 0; done++ {
		k := r.Intn(len(ready))
		i := ready[k]
		ready = append(ready[:k], ready[k+1:]...)
		if i != done {
			*moved++
		}
		c := chunks[i]
		th := threads[c.Thread]
		if th == nil {
			var err error
			if th, err = s.newThread(c.Thread); err != nil {
				t.Fatal(err)
			}
			threads[c.Thread] = th
			th.peers = &exchange{now: now}
			if err := th.StartAt(0); err != nil {
				t.Fatal(err)
			}
			th.Want = Kinds(traces.Switch, traces.Exit)
		}
		for th.min < c.End {
			if _, err := th.Step(); err != nil {
				return err
			}
		}
		for _, j := range then[i] {
			if waits[j]--; waits[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	return nil
}

// recordedCCP records a program whose threads depend on one another.
func recordedCCP(t *testing.T, dir, bin string) *Session {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	path := filepath.Join(dir, "t.ttd")
	_, err = record.Run(context.Background(), record.Config{Output: path, Argv: []string{bin}, LogMode: record.LogCCP, Slice: 2000,
		Stdin: null, Stdout: null, Stderr: null})
	if err != nil {
		t.Fatal(err)
	}
	r, err := traces.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	s, err := Open(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Verify(context.Background(), 0, nil); err != nil {
		t.Fatal(err)
	}
	return s
}
