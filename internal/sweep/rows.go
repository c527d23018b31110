package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"gopkg.in/yaml.v3"
)

//go:embed programs.yaml
var table []byte

// A row is one use of one program.
type row struct {
	Name    string
	Package string // of Debian, that has the program; "": none
	Setup   string // shell commands that make the input, in the row's folder
	Run     []string
	Input   string // file for stdin; "": none
	// Drive are shell commands that use a server, once a connection to Ready
	// (host:port) succeeds; the server must end by them. $PID is the number of
	// its process, or of racesim's, which passes signals on.
	Drive string
	Ready string
	// Compare says what both runs must agree on besides the exit status:
	// "output" (stdout), "lines" (its lines in any order) or "status" (nothing).
	Compare string
	Files   []string // that both must have made alike
	// Children, if not empty, is record's flag.
	Children string
	Env      []string      // for both runs
	Status   int           // that both must end with
	User     string        // who runs it, if root may not
	Timeout  time.Duration // for the recording; 0: two minutes
	// Fails is the known reason why the row doesn't pass; "": it does.
	Fails string
}

// rows returns the rows of the table. The error names the line.
func rows() ([]row, error) {
	var out []row
	d := yaml.NewDecoder(bytes.NewReader(table))
	d.KnownFields(true)
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("programs.yaml: %w", err)
	}
	seen := map[string]bool{}
	for i := range out {
		r := &out[i]
		switch {
		case r.Name == "" || len(r.Run) == 0:
			return nil, fmt.Errorf("programs.yaml: row %d has no name or nothing to run", i+1)
		case seen[r.Name]:
			return nil, fmt.Errorf("programs.yaml: two rows are called %s", r.Name)
		case (r.Drive == "") != (r.Ready == ""):
			return nil, fmt.Errorf("programs.yaml: %s: drive and ready go together", r.Name)
		}
		seen[r.Name] = true
		if r.Compare == "" {
			r.Compare = "output"
		}
		if !slices.Contains([]string{"output", "lines", "status"}, r.Compare) {
			return nil, fmt.Errorf("programs.yaml: %s: compare is output, lines or status, not %q", r.Name, r.Compare)
		}
		if r.Timeout == 0 {
			r.Timeout = 2 * time.Minute
		}
	}
	return out, nil
}
