package racesim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/emulate/overlay"
	"golang.org/x/sys/unix"
)

// ParseAnswer reads NAME=RESULT, what a system call gives in experiments: an
// integer, an error's name (EAGAIN: the call fails with it), or a text in double
// quotes, as in Go, that the kernel writes to the call's buffer.
func ParseAnswer(s string) (nr uint64, a overlay.Answer, err error) {
	name, val, ok := strings.Cut(s, "=")
	if !ok || name == "" || val == "" {
		return 0, a, fmt.Errorf("%q: want NAME=RESULT, for instance read=0, accept=EAGAIN or 'read=\"yes\\n\"'", s)
	}
	found := false
	for _, c := range linux.Syscalls() {
		if c.Name == name {
			nr, found = uint64(c.Nr), true
		}
	}
	if !found {
		return 0, a, fmt.Errorf("%q: there is no system call %s on x86-64", s, name)
	}
	if val[0] == '"' {
		text, err := strconv.Unquote(val)
		if err != nil {
			return 0, a, fmt.Errorf("%q: %s isn't a text in double quotes", s, val)
		}
		if _, _, ok := overlay.Buffer(nr); !ok {
			return 0, a, fmt.Errorf("%q: %s fills no buffer that a text can be for: want an integer or the name of an error", s, name)
		}
		return nr, overlay.Answer{Data: []byte(text)}, nil
	}
	if val[0] == 'E' {
		for e := 1; e < 200; e++ {
			if unix.ErrnoName(unix.Errno(e)) == val {
				return nr, overlay.Answer{Ret: int64(-e)}, nil
			}
		}
	}
	if a.Ret, err = strconv.ParseInt(val, 0, 64); err != nil {
		return 0, a, fmt.Errorf("%q: result %q is neither an integer, the name of an error nor a text in double quotes", s, val)
	}
	return nr, a, nil
}
