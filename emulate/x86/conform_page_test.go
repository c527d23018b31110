//go:build linux && amd64

package x86

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// A formResult is what the comparison of one form found.
type formResult struct {
	f                          *form
	why                        string // why it wasn't compared
	done, faults, bad, inexact int    // states, and of these
}

// missing lists what the processor doesn't have. cpuid doesn't report it.
var missing = []struct{ what, then string }{
	{"AVX-512 and everything else with an EVEX prefix, mask registers", "stops the recording as unsupported"},
	{"AMX, AVX-VNNI, GFNI, KL, and other extensions after x86-64-v3", "stops the recording as unsupported"},
	{"TSX (XBEGIN, XTEST), CET (shadow stacks; RDSSP is a NOP), protection keys, WAITPKG, MOVDIRI, SERIALIZE", "stops the recording as unsupported"},
	{"AMD's 3DNow!, XOP, FMA4, TBM, SSE4a; VIA's PadLock", "stops the recording as unsupported"},
	{"INT n, IRET, far calls, jumps and returns, loads of segment registers", "stops the recording as unsupported"},
	{"32-bit code", "not there"},
	{"privileged instructions", "#GP, as for any program"},
	{"alignment checks (RFLAGS.AC is kept, not acted upon)", "no fault"},
}

// formsPage is docs/instructions.md.
func formsPage(all []formResult) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Instructions\n\n"+
		"<!-- Written by the test TestFormsMatchProcessor of emulate/x86 (make conform); do not edit. -->\n\n"+
		"What the software processor executes, form by form as in the Intel manual, and in how many states each form did the same as a\n"+
		"real processor: single-stepped with random registers, vector registers, memory and addresses, and compared afterwards in all\n"+
		"registers (x87, MXCSR and the upper halves of YMM among them), the flags that are defined, the memory, and the fault if there\n"+
		"was one. Instructions that fault are among the states. The last column says what else is to be known.\n\n")
	done, compared := 0, 0
	for i := range all {
		if all[i].why == "" {
			compared++
		}
		done += all[i].done
	}
	fmt.Fprintf(&b, "%d forms, of which %d were compared, in %d states.\n\n## Not there\n\n| What | What happens |\n|---|---|\n", len(all), compared, done)
	for _, m := range missing {
		fmt.Fprintf(&b, "| %s | %s |\n", m.what, m.then)
	}
	names := []string{}
	groups := map[string][]*formResult{}
	for i := range all {
		g := groupOf(all[i].f)
		if groups[g] == nil {
			names = append(names, g)
		}
		groups[g] = append(groups[g], &all[i])
	}
	slices.Sort(names)
	for _, g := range names {
		fmt.Fprintf(&b, "\n## %s\n\n| Instruction | Encoding | Operands | States | Faults | |\n|---|---|---|---|---|---|\n", g)
		slices.SortStableFunc(groups[g], func(x, y *formResult) int { return strings.Compare(x.f.mnem, y.f.mnem) })
		for _, r := range groups[g] {
			args, _, _ := strings.Cut(r.f.row.args, "|")
			states, faults, note := fmt.Sprint(r.done), fmt.Sprint(r.faults), r.why
			switch {
			case r.why != "":
				states, faults, note = "", "", "not compared: "+r.why
			case r.bad > 0:
				note = fmt.Sprintf("**%d differ**", r.bad)
			case r.inexact > 0:
				note = fmt.Sprintf("%d in the last place", r.inexact)
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s |\n", r.f.mnem, r.f.enc, strings.TrimSpace(args), states, faults, note)
		}
	}
	return b.Bytes()
}

// groupOf is the heading under which a form stands.
func groupOf(f *form) string {
	class := func(k regClass) bool {
		return slices.ContainsFunc(f.args, func(o operand) bool { return o.class == k })
	}
	switch {
	case f.cpu != "" && f.vex, f.cpu == "aes", f.cpu == "sha", f.cpu == "adx", strings.HasPrefix(f.cpu, "bmi"), strings.HasPrefix(f.cpu, "xsave"):
		return strings.ToUpper(f.cpu)
	case class(classMM):
		return "MMX"
	case class(classST), strings.Contains(f.row.args, "fpu"), f.opcode >= 0xD8 && f.opcode <= 0xDF && f.opmap == 0:
		return "x87"
	case class(classXMM):
		return "SSE to SSE4.2"
	}
	return "General"
}
