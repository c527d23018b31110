package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed testdata/valgrind.csv
var valgrindVerdicts string

// valgrind lists the tests of Helgrind and DRD, which others wrote: all that
// have no race, and those with one whose verdict isn't a matter of opinion
// (testdata/valgrind.csv). suite is the table of all cases, as in
// internal/accuracy/testdata; root is where the sources are.
func valgrind(suite, root string) ([]*program, error) {
	if _, err := os.Stat(filepath.Join(root, "drd", "tests")); err != nil {
		return nil, fmt.Errorf("-valgrind: %w; make accuracy fetches it", err)
	}
	verdicts := map[string]string{}
	rows, err := csv.NewReader(strings.NewReader(valgrindVerdicts)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("testdata/valgrind.csv: %w", err)
	}
	for _, r := range rows[1:] {
		verdicts[r[0]] = r[1]
	}
	f, err := os.Open(suite)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if rows, err = csv.NewReader(f).ReadAll(); err != nil {
		return nil, fmt.Errorf("%s: %w", suite, err)
	}
	flags := strings.Fields("-g -O1 -w -pthread -DVGO_linux=1 -DVGA_amd64=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 -DNVALGRIND")
	for _, d := range []string{"", "include", "coregrind"} {
		flags = append(flags, "-I"+filepath.Join(root, d))
	}
	var out []*program
	for _, r := range rows[1:] {
		truth := verdicts[r[0]]
		switch {
		case r[3] == "norace":
			truth = "none"
		case truth == "":
			continue
		}
		p := &program{name: "valgrind/" + r[0], source: filepath.Join(root, r[1]), args: strings.Fields(r[2]), truth: truth}
		p.cc = append([]string{"gcc"}, flags...)
		if strings.HasSuffix(p.source, ".cpp") {
			p.cc = append([]string{"g++", "-std=gnu++14"}, flags...)
		}
		if strings.Contains(p.source, "tsan_unittest") {
			p.cc = append(p.cc, `-DTHREAD_WRAPPERS="tsan_thread_wrappers_pthread.h"`)
		}
		out = append(out, p)
	}
	return out, nil
}
