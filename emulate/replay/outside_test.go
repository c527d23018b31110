package replay_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate/record"
)

// What processes of the host store to memory that the guest shares with them is in
// the trace, as far as the guest read it.
func TestMemoryThatOthersChangeReplays(t *testing.T) {
	for _, before := range []bool{false, true} {
		name := map[bool]string{false: "opened later", true: "opened before"}[before]
		t.Run(name, func(t *testing.T) {
			bin := guest(t, "outside")
			file := filepath.Join(t.TempDir(), "shared")
			if err := os.WriteFile(file, make([]byte, 8192), 0o666); err != nil {
				t.Fatal(err)
			}
			delay := 300 * time.Millisecond
			if before {
				delay = 0
			}
			other := exec.Command(os.Args[0])
			other.Env = append(os.Environ(), playerFile+"="+file, playerDelay+"="+delay.String())
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			done := make(chan error)
			go func() { done <- other.Wait() }()
			if before {
				time.Sleep(300 * time.Millisecond)
			}
			path, out, res := recorded(t, record.Config{}, bin, file)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if res.Status != 0 || !strings.HasSuffix(out, " 200\n") {
				t.Fatalf("status %d, output %q", res.Status, out)
			}
			if v := verify(t, open(t, path)); v.Instructions != res.Instructions {
				t.Errorf("replayed %d instructions, recorded %d", v.Instructions, res.Instructions)
			}
		})
	}
}

// The other process is this test's program, told by its environment.
const playerFile, playerDelay = "RACESIM_TEST_PLAYER", "RACESIM_TEST_PLAYER_DELAY"

// play is the other side of testdata/outside.c, in 200 rounds.
func play(file string) {
	if d, err := time.ParseDuration(os.Getenv(playerDelay)); err == nil {
		time.Sleep(d)
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	f.Close()
	w := unsafe.Slice((*uint32)(unsafe.Pointer(&b[0])), 2048)
	for i := uint32(1); i <= 200; i++ {
		for end := time.Now().Add(time.Minute); atomic.LoadUint32(&w[0]) != i; {
			if time.Now().After(end) {
				panic("the guest doesn't answer")
			}
			time.Sleep(20 * time.Microsecond)
		}
		for k := range w[1024 : 1024+512] {
			w[1024+k] = i*uint32(k) + 7
		}
		atomic.StoreUint32(&w[16], i)
	}
}
