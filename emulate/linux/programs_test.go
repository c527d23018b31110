package linux

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// input writes a file of n bytes that compresses somewhat and returns its path.
func input(t testing.TB, n int) string {
	r := random(7)
	words := make([]string, 500)
	for i := range words {
		words[i] = fmt.Sprintf("%x", r.next()>>(8+r.below(48)))
	}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.below(len(words))])
		b.WriteByte(" \n\t,"[r.below(4)])
	}
	path := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(path, []byte(b.String()[:n]), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProgramsOfTheSystemDoAsNatively(t *testing.T) {
	in := input(t, 400000)
	for _, line := range []string{
		"echo hello world",
		"cat IN",
		"ls /etc",
		"sort IN",
		"wc IN",
		"md5sum IN",
		"sha256sum IN",
		"tail -n 5 IN",
		"tr a-f A-F",
		"grep -c ab IN",
		"gzip -kc IN",
		"pigz -p2 -b 128 -kc IN",
		"xz -T2 -0 -kc --block-size=131072 IN",
		"zstd -T2 -kcq IN",
		"pbzip2 -p2 -b1 -kc IN",
		"awk {n+=length($0)*1.5}END{print(n,sqrt(n),NR) IN",
		"/usr/bin/python3 -c print(sum(i*i/3for(i)in(range(1000))),hash(1.5))",
	} {
		args := strings.Fields(line)
		t.Run(filepath.Base(args[0]), func(t *testing.T) {
			path, err := exec.LookPath(args[0])
			if err != nil {
				t.Skipf("%s isn't installed", args[0])
			}
			for i := range args {
				if args[i] == "IN" {
					args[i] = in
				}
			}
			if args[0] == "awk" {
				args[1] += "}"
			}
			same(t, Config{Seed: 3}, path, args[1:]...)
		})
	}
}

// A program that is started through a link finds itself where it is.
func TestTheExecutableIsNoLink(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "whoami.c")
	os.WriteFile(src, []byte(`#include <stdio.h>
#include <unistd.h>
int main(void) {
	char b[4096];
	int n = readlink("/proc/self/exe", b, sizeof b);
	printf("%.*s\n", n, b);
}
`), 0o666)
	exe, link := filepath.Join(dir, "whoami"), filepath.Join(dir, "link")
	if msg, err := exec.Command("gcc", "-o", exe, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	if err := os.Symlink("whoami", link); err != nil {
		t.Fatal(err)
	}
	same(t, Config{}, link)
}

func TestStandardInputFromAPipe(t *testing.T) {
	data, err := os.ReadFile(input(t, 300000))
	if err != nil {
		t.Fatal(err)
	}
	ir, iw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	or, ow, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		iw.Write(data)
		iw.Close()
	}()
	sum := make(chan string)
	go func() {
		h := sha256.New()
		b := make([]byte, 1000)
		for {
			n, err := or.Read(b)
			h.Write(b[:n])
			if err != nil {
				sum <- fmt.Sprintf("%x", h.Sum(nil))
				return
			}
		}
	}()
	p, err := New(Config{Path: "/bin/cat", Stdin: ir, Stdout: ow}, new(Plain), []string{"cat"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	st, err := p.Run()
	ow.Close()
	if err != nil || st.Status() != 0 {
		t.Errorf("%v, error %v", st, err)
	}
	if got, want := <-sum, fmt.Sprintf("%x", sha256.Sum256(data)); got != want {
		t.Errorf("what came out isn't what went in")
	}
}

func TestHostSignalsReachTheGuest(t *testing.T) {
	src := filepath.Join(t.TempDir(), "wait.c")
	os.WriteFile(src, []byte(`#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int got;
static void h(int s, siginfo_t *si, void *u) { got = s * 100 + (si->si_code == SI_USER); }
int main(void) {
	struct sigaction a = {.sa_sigaction = h, .sa_flags = SA_SIGINFO};
	sigaction(SIGUSR2, &a, 0);
	if (write(1, "ready\n", 6) != 6) return 1;
	while (!got) pause();
	printf("%d\n", got);
}
`), 0o666)
	exe := filepath.Join(t.TempDir(), "wait")
	if msg, err := exec.Command("gcc", "-o", exe, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, _ := os.Open(os.DevNull)
	defer null.Close()
	p, err := New(Config{Path: exe, HostSignals: true, Stdin: null, Stdout: w}, new(Plain), []string{"wait"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string)
	go func() {
		b := make([]byte, 6)
		r.Read(b)
		unix.Kill(os.Getpid(), unix.SIGUSR2)
		rest := make([]byte, 100)
		n, _ := r.Read(rest)
		text <- string(rest[:n])
	}()
	if st, err := p.Run(); err != nil || st.Status() != 0 {
		t.Errorf("%v, error %v", st, err)
	}
	if got := <-text; got != "1201\n" {
		t.Errorf("the handler saw %q, want 12 and SI_USER", got)
	}
}

func TestSlowReaderSameRun(t *testing.T) {
	path, err := exec.LookPath("pigz")
	if err != nil {
		t.Skip("pigz isn't installed")
	}
	in := input(t, 600000)
	null, _ := os.Open(os.DevNull)
	defer null.Close()
	var sums [2]string
	for i, pause := range []time.Duration{0, 3 * time.Millisecond} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan bool)
		go func() {
			b := make([]byte, 20000)
			for {
				time.Sleep(pause)
				if _, err := r.Read(b); err != nil {
					close(done)
					return
				}
			}
		}()
		h := newWitness()
		p, err := New(Config{Path: path, Seed: 4, Stdin: null, Stdout: w}, h, []string{"pigz", "-p2", "-b128", "-kc", in}, guestEnv)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		<-done
		sums[i] = fmt.Sprintf("%x %d", h.h.Sum(nil), p.Instructions())
	}
	if sums[0] != sums[1] {
		t.Errorf("a slow reader changed the run:\n%s\n%s", sums[0], sums[1])
	}
}
