package racesim

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/funcs"
)

// WriteUndefined replays all threads and writes where they rely on flags that an
// instruction left undefined. choice is continue, fork or skip (replay.Choice).
func (t *Trace) WriteUndefined(ctx context.Context, w io.Writer, choice string) error {
	c, err := replay.ParseChoice(choice)
	if err != nil {
		return err
	}
	ms := t.modules()
	var n, times, pairs uint64
	for _, id := range t.s.Threads() {
		i, k, err := t.s.Undefined(ctx, id, c, func(r replay.Reliance) {
			pairs++
			fmt.Fprintf(w, "%v: %s at %s reads %s, which %s at %s left undefined\n", r.Position,
				r.Reads, codePlace(ms, r.PC), replay.FlagNames(r.Flags), r.Leaves, codePlace(ms, r.By))
			for _, f := range r.Forks {
				fmt.Fprintf(w, "  with %s it %s\n", flagValues(r.Flags, f.Flags), outcomeText(f.Differs))
			}
		})
		n, times = n+i, times+k
		if err != nil {
			return err
		}
	}
	if times == 0 {
		fmt.Fprintf(w, "no flag that was left undefined is read in %s\n", plural(n, "instruction"))
		return nil
	}
	fmt.Fprintf(w, "undefined flags are read at %s, %s in %s\n", plural(pairs, "place"), plural(times, "time"), plural(n, "instruction"))
	return nil
}

// codePlace names an instruction: function and line, or module and offset.
func codePlace(ms *funcs.Modules, pc emulate.Addr) string {
	f := ms.Frames(pc)[0]
	if f.File == "" {
		return fmt.Sprintf("%s (%v)", f.Function, pc)
	}
	return fmt.Sprintf("%s %s:%d (%v)", f.Function, filepath.Base(f.File), f.Line, pc)
}

// flagValues says which of the flags in mask are set: "CF set, ZF clear".
func flagValues(mask, set uint64) string {
	on, off := replay.FlagNames(set&mask), replay.FlagNames(mask&^set)
	switch {
	case off == "":
		return on + " set"
	case on == "":
		return off + " clear"
	}
	return on + " set and " + off + " clear"
}

func outcomeText(differs string) string {
	if differs == "" {
		return "does the same"
	}
	return differs
}
