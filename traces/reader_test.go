package traces

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
)

// docs/read_ttd.py, which knows only the page, reads the same from a trace as
// this package: every packet of every version, complete or cut off.
func TestAnotherReaderReadsTheSame(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is missing")
	}
	h, entries := example()
	dir := t.TempDir()
	whole := write(t, h, entries, func(i int) bool { return i%9 == 8 })
	inputs := map[string][]byte{"all kinds": whole, "cut off": whole[:len(whole)-200], "big": write(t, h, big(), never)}
	samples, _ := filepath.Glob("testdata/version*.ttd")
	for _, name := range samples {
		if inputs[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range inputs {
		path := filepath.Join(dir, "a.ttd")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(python, "../docs/read_ttd.py", path)
		var complaint bytes.Buffer
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 77 {
			t.Skipf("%s", complaint.Bytes())
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, complaint.Bytes())
		}
		compareReaders(t, name, b, out)
	}
}

func compareReaders(t *testing.T, name string, b, out []byte) {
	t.Helper()
	r, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	var want []any
	h := r.Header()
	fields := []any{}
	for _, p := range h.pairs() {
		fields = append(fields, []any{hex.EncodeToString([]byte(p.Name)), hex.EncodeToString([]byte(p.Value))})
	}
	want = append(want, map[string]any{"header": fields})
	for _, n := range streams(r) {
		for c := r.Cursor(n).WithTLB(); ; {
			p, err := c.Next()
			if err != nil {
				break
			}
			fields := map[string]any{}
			for _, f := range kindTable[p.Kind].Fields {
				fields[f.Name] = plain(f.ptr(p))
			}
			want = append(want, map[string]any{"stream": n, "count": p.Count, "kind": p.Kind.String(), "fields": fields})
		}
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	i := 0
	for ; lines.Scan(); i++ {
		if i >= len(want) {
			break
		}
		w, err := json.Marshal(want[i])
		if err != nil {
			t.Fatal(err)
		}
		if got, w := canonical(t, lines.Bytes()), canonical(t, w); !reflect.DeepEqual(got, w) {
			t.Fatalf("%s: line %d: the other reader has %v, expected %v", name, i, got, w)
		}
	}
	if i != len(want) {
		t.Errorf("%s: the other reader has more or fewer than %d packets", name, len(want)-1)
	}
}

// plain is a field's value as the other reader shows it.
func plain(v any) any {
	switch v := v.(type) {
	case *[]byte:
		return hex.EncodeToString(*v)
	case *string:
		return hex.EncodeToString([]byte(*v))
	case **[LineSize]byte:
		return hex.EncodeToString((*v)[:])
	case *bool:
		if *v {
			return 1
		}
		return 0
	case *[]Object:
		out := []any{}
		for _, x := range *v {
			out = append(out, []any{x.Kind, x.ID})
		}
		return out
	case *[]Range:
		out := []any{}
		for _, x := range *v {
			out = append(out, []any{x.Addr, x.N})
		}
		return out
	case *[]LineRange:
		out := []any{}
		for _, x := range *v {
			out = append(out, []any{x.First, x.N})
		}
		return out
	case *[]Counter:
		out := []any{}
		for _, x := range *v {
			out = append(out, []any{hex.EncodeToString([]byte(x.Name)), x.Value})
		}
		return out
	case *[]uint64:
		return append([]uint64{}, *v...)
	}
	return reflect.ValueOf(v).Elem().Interface()
}

func canonical(t *testing.T, b []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return v
}
