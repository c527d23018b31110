package report

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Place is where a frame is, as precisely as it is known: file:line, or else
// module+0xoffset, which addr2line and objdump take, or else the function.
func (f *Frame) Place() string {
	switch {
	case f.File != "":
		return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
	case f.Module != "" && f.Offset != "":
		return filepath.Base(f.Module) + "+" + f.Offset
	}
	return f.Function
}

// Unnamed says whether there is no symbol for the frame's function: it is
// called module+0xoffset, too, or by an address.
func (f *Frame) Unnamed() bool {
	return strings.HasPrefix(f.Function, "0x") || strings.HasPrefix(f.Function, filepath.Base(f.Module)+"+0x")
}

// Frame is the frame of an access's stack that is the program's own place of
// it; without the stack, what the access itself says.
func (a *Access) Frame() Frame {
	for _, f := range a.Stack {
		if f.Function == a.Function && f.File == a.File && f.Line == a.Line {
			return f
		}
	}
	return Frame{Function: a.Function, File: a.File, Line: a.Line}
}

// Place is where an access is, as of a Frame.
func (a *Access) Place() string {
	f := a.Frame()
	return f.Place()
}
