package racesim_test

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/traces"
)

// Traces whose packets say something else than was recorded, behind good
// checksums, are replayed and analysed until that shows: a panic, or not coming
// to an end, is a mistake of racesim's.
func TestWrongPacketsAreNoPanic(t *testing.T) {
	n := 60
	if s := os.Getenv("RACESIM_DAMAGE"); s != "" { // make fuzz
		n, _ = strconv.Atoi(s)
	}
	for _, name := range glob(t, "traces/testdata/version*.ttd") {
		h, packets := readPackets(t, name)
		first, _ := strconv.Atoi(os.Getenv("RACESIM_DAMAGE_FROM"))
		for seed := first; seed < first+n; seed++ {
			path := filepath.Join(t.TempDir(), "damaged.ttd")
			what := writeDamaged(t, path, h, packets, rand.New(rand.NewSource(int64(seed))))
			done := make(chan string, 1)
			go func() { done <- useDamaged(path) }()
			select {
			case s := <-done:
				if s != "" {
					t.Errorf("%s, seed %d: %v: %s", name, seed, what, s)
				}
			case <-time.After(2 * time.Minute):
				t.Fatalf("%s, seed %d: %v: no end", name, seed, what)
			}
		}
	}
}

// useDamaged does with a trace what users do, and returns the panic that came
// of it, "" if none did.
func useDamaged(path string) (s string) {
	defer func() {
		if r := recover(); r != nil {
			s = fmt.Sprintf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	racesim.VerifyFile(path)
	racesim.Dump(discard{}, path, racesim.DumpOptions{Thread: -1})
	tr, err := racesim.Open(path)
	if err != nil {
		return ""
	}
	defer tr.Close()
	tr.Verify(1)
	tr.WriteInfo(discard{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tr.Analyze(ctx, racesim.AnalyzeOptions{MaxRuns: 8})
	tr.Functions(ctx, true)
	return ""
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

type placed struct {
	stream uint32
	p      traces.Packet
}

// readPackets returns the packets of a trace, stream by stream.
func readPackets(t *testing.T, path string) (traces.Header, []placed) {
	r, err := traces.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []placed
	for _, s := range append(r.Streams(), traces.StreamInfo{Stream: traces.FilesStream}) {
		c := r.Cursor(s.Stream)
		for {
			p, err := c.Next()
			if err != nil {
				break
			}
			out = append(out, placed{s.Stream, copied(*p)})
		}
	}
	return r.Header(), out
}

// copied returns a packet that shares nothing with p.
func copied(p traces.Packet) traces.Packet {
	v := reflect.ValueOf(&p).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Kind() == reflect.Slice:
			f.Set(reflect.AppendSlice(reflect.MakeSlice(f.Type(), 0, f.Len()), f))
		case f.Kind() == reflect.Pointer && !f.IsNil():
			c := reflect.New(f.Type().Elem())
			c.Elem().Set(f.Elem())
			f.Set(c)
		}
	}
	return p
}

// writeDamaged writes a trace with a few things wrong, and returns which.
func writeDamaged(t *testing.T, path string, h traces.Header, packets []placed, rnd *rand.Rand) (what []string) {
	w, err := traces.Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	list := slices.Clone(packets)
	for range 1 + rnd.Intn(3) {
		i := rnd.Intn(len(list))
		switch rnd.Intn(8) {
		case 0:
			what = append(what, fmt.Sprintf("without %v", &list[i].p))
			list = slices.Delete(list, i, i+1)
		case 1:
			what = append(what, fmt.Sprintf("twice %v", &list[i].p))
			list = slices.Insert(list, i, list[i])
		case 2:
			if i+1 < len(list) && list[i].stream == list[i+1].stream {
				what = append(what, fmt.Sprintf("later %v", &list[i].p))
				a, b := list[i], list[i+1]
				a.p.Count, b.p.Count = b.p.Count, a.p.Count
				list[i], list[i+1] = b, a
			}
		default:
			p := copied(list[i].p)
			damage(reflect.ValueOf(&p).Elem(), rnd)
			what = append(what, fmt.Sprintf("%v instead of %v", &p, &list[i].p))
			list[i].p = p
		}
	}
	for i := range list {
		w.Put(list[i].stream, list[i].p.Count, &list[i].p) // what the format refuses is left out
	}
	if rnd.Intn(4) == 0 {
		err = w.Abort()
	} else {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return what
}

// damage changes one of a packet's fields that isn't 0, or any.
func damage(v reflect.Value, rnd *rand.Rand) {
	var fields []reflect.Value
	for i := range v.NumField() {
		if n := v.Type().Field(i).Name; n != "Kind" && n != "Delta" && !v.Field(i).IsZero() {
			fields = append(fields, v.Field(i))
		}
	}
	if len(fields) == 0 || rnd.Intn(10) == 0 {
		fields = append(fields, v.Field(2+rnd.Intn(v.NumField()-2)))
	}
	change(fields[rnd.Intn(len(fields))], rnd)
}

func change(f reflect.Value, rnd *rand.Rand) {
	number := func(old uint64) uint64 {
		switch rnd.Intn(6) {
		case 0:
			return 0
		case 1:
			return ^uint64(0)
		case 2:
			return old + 1
		case 3:
			return old - 1
		case 4:
			return old ^ 1<<rnd.Intn(64)
		}
		return rnd.Uint64() >> rnd.Intn(64)
	}
	switch f.Kind() {
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		f.SetUint(number(f.Uint()) & (1<<f.Type().Bits() - 1))
	case reflect.Int32, reflect.Int64:
		f.SetInt(int64(number(uint64(f.Int()))) << (64 - f.Type().Bits()) >> (64 - f.Type().Bits()))
	case reflect.Bool:
		f.SetBool(!f.Bool())
	case reflect.String:
		b := []byte(f.String())
		if len(b) > 0 {
			b[rnd.Intn(len(b))] ^= 1 << rnd.Intn(8)
		}
		f.SetString(string(b))
	case reflect.Slice:
		if f.Len() == 0 || rnd.Intn(4) == 0 {
			f.SetLen(f.Len() / 2)
			return
		}
		change(f.Index(rnd.Intn(f.Len())), rnd)
	case reflect.Array:
		change(f.Index(rnd.Intn(f.Len())), rnd)
	case reflect.Pointer:
		if !f.IsNil() {
			change(f.Elem(), rnd)
		}
	case reflect.Struct:
		change(f.Field(rnd.Intn(f.NumField())), rnd)
	}
}
