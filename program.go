package racesim

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

// checkProgram says why a program can't be run at all, before a trace is
// begun. What it lets pass may still turn out to be damaged when it is loaded.
func checkProgram(name string) error {
	if name == "" {
		return errors.New("the program's name is empty")
	}
	path := name
	if !strings.Contains(name, "/") {
		p, err := exec.LookPath(name)
		if err != nil {
			if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() {
				return fmt.Errorf("%s: no such program in PATH; ./%s names the one in this folder", name, name)
			}
			return fmt.Errorf("%s: no such program in PATH", name)
		}
		path = p
	}
	f, err := os.Open(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%s: a folder, not a program", path)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s: not a regular file", path)
	case st.Mode()&0o111 == 0:
		return fmt.Errorf("%s: not executable; chmod +x makes it so", path)
	}
	head := make([]byte, 20)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return fmt.Errorf("%s: %w", path, err)
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("#!")): // its interpreter is recorded
		return nil
	case !bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return fmt.Errorf("%s: not an ELF program: it starts with % x; want one for x86-64 Linux, or a script that starts with #!", path, head[:min(n, 4)])
	case n < 20:
		return fmt.Errorf("%s: an ELF file of %d bytes: cut off", path, n)
	case elf.Class(head[elf.EI_CLASS]) != elf.ELFCLASS64:
		return fmt.Errorf("%s: a 32-bit program; want a 64-bit one for x86-64", path)
	}
	if m := elf.Machine(uint16(head[18]) | uint16(head[19])<<8); m != elf.EM_X86_64 {
		return fmt.Errorf("%s: a program for %v; want one for x86-64", path, m)
	}
	return nil
}
