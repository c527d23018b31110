package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A result is what became of a row.
type result struct {
	row      *row
	missing  bool   // the program isn't installed
	problem  string // "": it passed
	native   time.Duration
	recorded time.Duration
	bytes    int64 // of the trace
}

// An ending is what a run left.
type ending struct {
	stdout []byte
	stderr []byte
	status int
	took   time.Duration
}

// setupTimeout bounds what makes the input, and what drives a server.
const setupTimeout = 2 * time.Minute

// sweep runs one row below dir.
func (s *sweeper) sweep(r *row, dir string) *result {
	res := &result{row: r}
	if _, err := exec.LookPath(r.Run[0]); err != nil && !strings.Contains(r.Run[0], "/") {
		res.missing = true
		return res
	}
	var ends [2]*ending
	trace := filepath.Join(dir, "trace.ttd")
	for i, how := range []string{"native", "recorded"} {
		// Both run in a folder of the same name, since programs print it.
		work := filepath.Join(dir, "work")
		if err := os.MkdirAll(work, 0o777); err != nil {
			res.problem = err.Error()
			return res
		}
		if r.User != "" { // he writes the trace
			if err := os.Chmod(dir, 0o777); err != nil {
				res.problem = err.Error()
				return res
			}
		}
		if r.Setup != "" {
			if e, err := run(work, &row{Env: r.Env, User: r.User}, setupTimeout, "sh", "-e", "-c", r.Setup); err != nil || e.status != 0 {
				res.problem = fmt.Sprintf("setup: %s", told(e, err))
				return res
			}
		}
		argv := r.Run
		if how == "recorded" {
			argv = append(s.record(r, trace), argv...)
		}
		e, err := run(work, r, r.Timeout, argv...)
		if err != nil {
			res.problem = fmt.Sprintf("%s: %s", how, told(e, err))
			return res
		}
		ends[i] = e
		if err := os.Rename(work, filepath.Join(dir, how)); err != nil {
			res.problem = err.Error()
			return res
		}
	}
	res.native, res.recorded = ends[0].took, ends[1].took
	res.bytes = size(trace)
	if res.problem = differ(r, dir, ends[0], ends[1]); res.problem == "" {
		res.problem = s.check(trace)
	}
	return res
}

func (s *sweeper) record(r *row, trace string) []string {
	a := []string{s.racesim, "record", "-o", trace}
	if r.Children != "" {
		a = append(a, "--children="+r.Children)
	}
	return append(a, "--")
}

// check replays and verifies a trace.
func (s *sweeper) check(trace string) string {
	for _, c := range []string{"replay", "verify"} {
		for _, f := range tracesOf(trace) {
			if c == "replay" && f != trace {
				continue // it takes the folder
			}
			e, err := run(".", &row{}, setupTimeout*2, s.racesim, c, f)
			if err != nil || e.status != 0 {
				return fmt.Sprintf("%s: %s", c, told(e, err))
			}
		}
	}
	return ""
}

// tracesOf lists the trace files of a recording, the recording itself first.
func tracesOf(path string) []string {
	st, err := os.Stat(path)
	if err != nil || !st.IsDir() {
		return []string{path}
	}
	in, _ := filepath.Glob(filepath.Join(path, "*.ttd"))
	return append([]string{path}, in...)
}

func size(path string) int64 {
	n := int64(0)
	for _, f := range tracesOf(path) {
		if st, err := os.Stat(f); err == nil && !st.IsDir() {
			n += st.Size()
		}
	}
	return n
}

// told is an ending in one line.
func told(e *ending, err error) string {
	if err != nil {
		return err.Error()
	}
	last := ""
	for _, l := range strings.Split(string(e.stderr), "\n") {
		if strings.TrimSpace(l) != "" {
			last = l
		}
	}
	return fmt.Sprintf("status %d: %s", e.status, last)
}

// run runs a command in a folder until it ends; everything that it started
// ends with it. The error is that it couldn't be run, or took too long.
func run(dir string, r *row, limit time.Duration, argv ...string) (*ending, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TZ=UTC", "PWD="+dir)
	c.Env = append(c.Env, r.Env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if r.User != "" {
		cred, err := credential(r.User)
		if err != nil {
			return nil, err
		}
		c.SysProcAttr.Credential = cred
		if err := os.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
			return nil, err
		}
	}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if r.Input != "" {
		f, err := os.Open(filepath.Join(dir, r.Input))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		c.Stdin = f
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		return nil, err
	}
	if r.Drive != "" {
		if err := drive(ctx, dir, r, c.Process.Pid); err != nil {
			cancel()
			c.Wait()
			return nil, fmt.Errorf("%w; the server said: %s", err, told(&ending{stderr: errs.Bytes()}, nil))
		}
	}
	err := c.Wait()
	e := &ending{stdout: out.Bytes(), stderr: errs.Bytes(), took: time.Since(began)}
	if ctx.Err() != nil {
		return e, fmt.Errorf("still running after %v; it said: %s", limit, told(e, nil))
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		e.status = exit.ExitCode()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return e, err
	}
	return e, nil
}

// credential is what a process of a user has.
func credential(name string) (*syscall.Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// drive waits for a server and uses it.
func drive(ctx context.Context, dir string, r *row, pid int) error {
	for {
		c, err := net.DialTimeout("tcp", r.Ready, time.Second)
		if err == nil {
			c.Close()
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nobody listens at %s", r.Ready)
		case <-time.After(50 * time.Millisecond):
		}
	}
	c := exec.CommandContext(ctx, "sh", "-e", "-c", r.Drive)
	c.Dir = dir
	c.Env = append(os.Environ(), fmt.Sprintf("PID=%d", pid))
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("the client: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// differ says how two runs differ; "": they don't.
func differ(r *row, dir string, native, recorded *ending) string {
	if native.status != r.Status {
		return "natively " + told(native, nil)
	}
	if native.status != recorded.status {
		return fmt.Sprintf("natively status %d, recorded %s", native.status, told(recorded, nil))
	}
	a, b := native.stdout, recorded.stdout
	if r.Compare == "lines" {
		a, b = sorted(a), sorted(b)
	}
	if r.Compare != "status" && !bytes.Equal(a, b) {
		return "stdout: " + firstDifference(a, b)
	}
	for _, f := range r.Files {
		x, err := os.ReadFile(filepath.Join(dir, "native", f))
		if err != nil {
			return err.Error()
		}
		y, err := os.ReadFile(filepath.Join(dir, "recorded", f))
		if err != nil {
			return err.Error()
		}
		if !bytes.Equal(x, y) {
			return f + ": " + firstDifference(x, y)
		}
	}
	return ""
}

func sorted(b []byte) []byte {
	l := strings.Split(string(b), "\n")
	slices.Sort(l)
	return []byte(strings.Join(l, "\n"))
}

func firstDifference(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(x []byte) []byte { return x[max(0, i-20):min(len(x), i+20)] }
	return fmt.Sprintf("at byte %d natively %q (of %d), recorded %q (of %d)", i, cut(a), len(a), cut(b), len(b))
}
