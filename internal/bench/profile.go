package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"

	"github.com/racesim/racesim"
)

// profile records the programs in this process and writes to file where that
// took its time, for the compiler.
func profile(file, only string, size int) error {
	dir, err := os.MkdirTemp("", "racesim-profile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ps, err := programs(dir, only, size)
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for _, p := range ps {
		argv := append([]string(nil), p.argv...)
		_, err := racesim.Record(context.Background(), racesim.RecordConfig{Argv: argv, Env: os.Environ(),
			Output: filepath.Join(dir, p.name+".ttd"), Stdin: null, Stdout: null, Stderr: null})
		if err != nil {
			return fmt.Errorf("recording %s: %w", p.name, err)
		}
	}
	return nil
}
