package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A sweeper runs the rows.
type sweeper struct {
	racesim string
	page    string // a file for the table
}

func main() {
	s := sweeper{}
	flag.StringVar(&s.racesim, "racesim", "bin/racesim", "the program to measure")
	flag.StringVar(&s.page, "page", "", "write the table to this file")
	only := flag.String("only", "", "a regular expression for the names of the rows to run")
	dir := flag.String("dir", "", "folder for inputs, outputs and traces, kept (default: a temporary one)")
	install := flag.Bool("install", false, "install missing packages with apt-get first")
	flag.Parse()
	if err := s.run(*only, *dir, *install); err != nil {
		fmt.Fprintln(os.Stderr, "sweep:", err)
		os.Exit(1)
	}
}

func (s *sweeper) run(only, dir string, install bool) error {
	re, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	all, err := rows()
	if err != nil {
		return err
	}
	if s.racesim, err = filepath.Abs(s.racesim); err != nil {
		return err
	}
	if _, err := os.Stat(s.racesim); err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "racesim-sweep-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := os.Chmod(dir, 0o755); err != nil { // servers change their user
			return err
		}
	} else if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	var todo []*row
	for i := range all {
		if re.MatchString(all[i].Name) {
			todo = append(todo, &all[i])
		}
	}
	if install {
		if err := installMissing(todo); err != nil {
			return err
		}
	}
	var done []*result
	passed, failed, missing := 0, 0, 0
	for _, r := range todo {
		d := filepath.Join(dir, r.Name)
		if err := os.RemoveAll(d); err != nil {
			return err
		}
		res := s.sweep(r, d)
		done = append(done, res)
		fmt.Println(res)
		switch {
		case res.missing:
			missing++
		case res.problem != "":
			failed++
		default:
			passed++
		}
	}
	fmt.Printf("%d passed, %d did not, %d are not installed\n", passed, failed, missing)
	if s.page != "" {
		if err := os.WriteFile(s.page, []byte(page(done)), 0o666); err != nil {
			return err
		}
	}
	for _, res := range done {
		if res.problem != "" && res.row.Fails == "" {
			return fmt.Errorf("%s should have passed", res.row.Name)
		}
	}
	return nil
}

func installMissing(todo []*row) error {
	var need []string
	for _, r := range todo {
		if _, err := exec.LookPath(r.Run[0]); err != nil && r.Package != "" {
			need = append(need, strings.Fields(r.Package)...)
		}
	}
	if len(need) == 0 {
		return nil
	}
	c := exec.Command("apt-get", append([]string{"install", "-y", "-qq"}, need...)...)
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	return c.Run()
}

func (r *result) String() string {
	switch {
	case r.missing:
		return fmt.Sprintf("%-24s not installed (package %s)", r.row.Name, r.row.Package)
	case r.problem != "" && r.row.Fails != "":
		return fmt.Sprintf("%-24s FAILED as known: %s (%s)", r.row.Name, r.row.Fails, r.problem)
	case r.problem != "":
		return fmt.Sprintf("%-24s FAILED: %s", r.row.Name, r.problem)
	}
	known := ""
	if r.row.Fails != "" {
		known = ", although known to fail: " + r.row.Fails
	}
	return fmt.Sprintf("%-24s ok  %6.2f s natively, %7.2f s recorded, trace %d KB%s", r.row.Name, r.native.Seconds(), r.recorded.Seconds(), r.bytes/1024, known)
}

// page is docs/programs.md.
func page(done []*result) string {
	var b strings.Builder
	b.WriteString(`# Programs

Real programs, run natively and recorded, each in a folder of its own with the same input. A row passes if both runs end
with the same status, write the same to stdout and to the files that it names, and the trace replays bit for bit.
` + "`make sweep` runs all of them anew and writes this page; `internal/sweep/programs.yaml` has the exact commands." + `

| program | what | trace KB | result |
|---|---|---|---|
`)
	for _, r := range done {
		what := strings.Join(r.row.Run, " ")
		if r.row.Drive != "" {
			what += "; " + strings.TrimSpace(r.row.Drive)
		}
		what = strings.Join(strings.Fields(strings.ReplaceAll(what, "|", "\\|")), " ")
		if len(what) > 120 {
			what = what[:117] + "…"
		}
		switch {
		case r.missing:
			fmt.Fprintf(&b, "| %s | `%s` | | not installed |\n", r.row.Name, what)
		case r.problem != "":
			why := r.row.Fails
			if why == "" {
				why = r.problem
			}
			fmt.Fprintf(&b, "| %s | `%s` | | **fails**: %s |\n", r.row.Name, what, strings.ReplaceAll(why, "|", "\\|"))
		default:
			fmt.Fprintf(&b, "| %s | `%s` | %d | passes |\n", r.row.Name, what, r.bytes/1024)
		}
	}
	return b.String()
}
