package report

import (
	"fmt"
	"strings"
	"testing"
)

// What a library's templates call one another isn't worth a line each.
func TestFoldedStacks(t *testing.T) {
	lib := func(names ...string) (out []Frame) {
		for _, n := range names {
			out = append(out, Frame{Function: n, File: "/usr/include/c++/12/bits/stl_deque.h", Line: 5, Inlined: true})
		}
		return out
	}
	own := func(n string) []Frame { return []Frame{{Function: n, File: "/src/pool.cpp", Line: 7}} }
	join := func(parts ...[]Frame) (out []Frame) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	start := []Frame{{Function: "libstdc++.so.6+0xd4490", Module: "/usr/lib/libstdc++.so.6"}, {Function: "start_thread"}, {Function: "clone3"}}
	for _, c := range []struct {
		stack []Frame
		want  string
	}{
		{join(lib("construct", "emplace", "push_back"), own("add"), own("main")), "+2 push_back add main"},
		{join(lib("swap", "push_back"), own("add")), "swap push_back add"},
		{join(own("work"), lib("invoke", "operator()", "_M_run"), start), "work +4"},
		{join(own("work"), lib("invoke"), start), "work invoke libstdc++.so.6+0xd4490"},
		{lib("a", "b", "c", "d"), "+3 d"},
		{join(own("leaf"), own("walk"), own("walk"), own("walk"), own("walk"), own("main")), "leaf walk *3 main"},
		{join(own("walk"), own("walk"), own("walk"), own("main")), "walk walk walk main"},
		{join(own("even"), own("odd"), own("even"), own("odd"), own("even"), own("odd"), own("even"), own("main")), "even odd *4 even main"},
		{nil, ""},
	} {
		var got []string
		for _, l := range fold(c.stack) {
			if l.More > 0 {
				got = append(got, fmt.Sprintf("+%d", l.More))
			} else if l.Again > 0 {
				got = append(got, fmt.Sprintf("*%d", l.Again))
			} else {
				got = append(got, l.Function)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q, expected %q", s, c.want)
		}
	}
}
