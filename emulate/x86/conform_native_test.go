//go:build linux && amd64

package x86

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// The memory of the native child, and of the emulator beside it. Everything
// else is unmapped. Addresses are below 4 GiB so that 32-bit addressing and
// absolute displacements reach them.
const (
	codeAddr = 0x20000000 // two pages, executable; the instruction is put at its middle
	codeSize = 0x2000
	dataAddr = 0x20010000 // readable and writable
	dataSize = 0x4000
	roAddr   = dataAddr + dataSize // read-only, straight after the data
	roSize   = 0x1000
)

// A native is a stopped process on the real processor, whose registers and
// memory the test sets, and which it single-steps.
type native struct {
	pid int
	mem *os.File
	xs  []byte // the XSAVE area, standard format, as last read; nil: the kernel has none
}

// fpRegs is the FXSAVE image that PTRACE_GETFPREGS moves.
type fpRegs [512]byte

// startNative makes and starts the child. The calling goroutine must be locked
// to its thread, the only one that may use the result.
func startNative(dir string) (*native, error) {
	path := filepath.Join(dir, "stepped")
	if err := os.WriteFile(path, nativeELF(), 0o755); err != nil {
		return nil, err
	}
	p, err := os.StartProcess(path, []string{path}, &os.ProcAttr{
		Env: []string{},
		Sys: &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return nil, fmt.Errorf("start %s under ptrace: %w", path, err)
	}
	n := &native{pid: p.Pid}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(n.pid, &ws, 0, nil); err != nil || !ws.Stopped() {
		p.Kill()
		return nil, fmt.Errorf("child didn't stop at exec: status %#x, %w", ws, err)
	}
	const exitKill = 1 << 20 // PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(n.pid, exitKill); err != nil {
		n.close()
		return nil, fmt.Errorf("PTRACE_SETOPTIONS: %w", err)
	}
	if n.mem, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", n.pid), os.O_RDWR, 0); err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

func (n *native) close() {
	if n.mem != nil {
		n.mem.Close()
	}
	syscall.Kill(n.pid, syscall.SIGKILL)
	syscall.Wait4(n.pid, nil, 0, nil)
}

// A trap is how a step ended: a signal with its code and address.
type trap struct {
	sig  syscall.Signal
	code int32
	addr uint64

	anyAddr bool // any fault address will do
}

// stepped reports whether the step ended after the instruction.
func (t trap) stepped() bool { return t.sig == syscall.SIGTRAP }

func (t trap) String() string {
	if t.stepped() {
		return "completed"
	}
	return fmt.Sprintf("%v (code %d, address %#x)", t.sig, t.code, t.addr)
}

// step executes one instruction, or one iteration of a repeated one.
func (n *native) step() (trap, error) {
	if err := syscall.PtraceSingleStep(n.pid); err != nil {
		return trap{}, fmt.Errorf("PTRACE_SINGLESTEP: %w", err)
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(n.pid, &ws, 0, nil); err != nil {
		return trap{}, err
	}
	if !ws.Stopped() {
		return trap{}, fmt.Errorf("child ended: status %#x", ws)
	}
	t := trap{sig: ws.StopSignal()}
	if t.stepped() {
		return t, nil
	}
	const getSigInfo = 0x4202
	var si [128]byte
	if err := n.ptrace(getSigInfo, unsafe.Pointer(&si)); err != nil {
		return t, fmt.Errorf("PTRACE_GETSIGINFO: %w", err)
	}
	t.code = int32(binary.LittleEndian.Uint32(si[8:]))
	t.addr = binary.LittleEndian.Uint64(si[16:])
	return t, nil
}

func (n *native) ptrace(req uintptr, p unsafe.Pointer) error {
	_, _, e := syscall.Syscall6(syscall.SYS_PTRACE, req, uintptr(n.pid), 0, uintptr(p), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

func (n *native) regs(r *syscall.PtraceRegs) error    { return syscall.PtraceGetRegs(n.pid, r) }
func (n *native) setRegs(r *syscall.PtraceRegs) error { return syscall.PtraceSetRegs(n.pid, r) }

// The XSAVE area (SDM volume 1, 13.4) as PTRACE_GETREGSET moves it: the FXSAVE
// image, the header, whose first 8 bytes say which components follow, and at 576
// the upper halves of the YMM registers.
const (
	xsHeader = 512
	xsYMM    = 576
	xsRegset = 0x202 // NT_X86_XSTATE
)

// An upperRegs holds the upper halves of YMM0 to YMM15.
type upperRegs [256]byte

func (n *native) regset(req uintptr, b []byte) (int, error) {
	iov := syscall.Iovec{Base: &b[0], Len: uint64(len(b))}
	_, _, e := syscall.Syscall6(syscall.SYS_PTRACE, req, uintptr(n.pid), xsRegset, uintptr(unsafe.Pointer(&iov)), 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(iov.Len), nil
}

// fpRegs reads the x87 and vector registers.
func (n *native) fpRegs(f *fpRegs, y *upperRegs) error {
	const getRegset = 0x4204
	if n.xs == nil {
		n.xs = make([]byte, 1<<16)
	}
	n.xs = n.xs[:cap(n.xs)]
	size, err := n.regset(getRegset, n.xs)
	if err != nil || size < xsYMM+len(y) {
		n.xs = n.xs[:0]
		*y = upperRegs{}
		return n.ptrace(14, unsafe.Pointer(f)) // PTRACE_GETFPREGS
	}
	n.xs = n.xs[:size]
	bv := n.xs[xsHeader]
	copy(f[:], n.xs)
	*y = upperRegs{}
	if bv&4 != 0 {
		copy(y[:], n.xs[xsYMM:])
	}
	if bv&2 == 0 {
		clear(f[160:416])
	}
	if bv&1 == 0 { // the initial state is not written out
		clear(f[:24])
		clear(f[32:160])
		f[0], f[1] = 0x7f, 3
	}
	return nil
}

// setFPRegs is the reverse of fpRegs, which must have been called before.
func (n *native) setFPRegs(f *fpRegs, y *upperRegs) error {
	const setRegset = 0x4205
	if len(n.xs) == 0 {
		return n.ptrace(15, unsafe.Pointer(f)) // PTRACE_SETFPREGS
	}
	copy(n.xs, f[:416])
	clear(n.xs[xsHeader : xsHeader+64])
	n.xs[xsHeader] = 7
	copy(n.xs[xsYMM:], y[:])
	_, err := n.regset(setRegset, n.xs)
	return err
}

func (n *native) read(addr uint64, b []byte) error {
	_, err := n.mem.ReadAt(b, int64(addr))
	return err
}

func (n *native) write(addr uint64, b []byte) error {
	_, err := n.mem.WriteAt(b, int64(addr))
	return err
}

// nativeELF is a static program of three zero-filled segments; it never runs
// anything that the test hasn't put there.
func nativeELF() []byte {
	le := binary.LittleEndian
	seg := []struct{ addr, size, flags uint64 }{
		{codeAddr, codeSize, 7}, {dataAddr, dataSize, 6}, {roAddr, roSize, 4}, {0, 0, 6},
	}
	b := make([]byte, 64+56*len(seg))
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], 2)  // ET_EXEC
	le.PutUint16(b[18:], 62) // EM_X86_64
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[24:], codeAddr)
	le.PutUint64(b[32:], 64) // program headers
	le.PutUint16(b[52:], 64)
	le.PutUint16(b[54:], 56)
	le.PutUint16(b[56:], uint16(len(seg)))
	for i, s := range seg {
		p := b[64+56*i:]
		le.PutUint32(p, 1) // PT_LOAD
		le.PutUint32(p[4:], uint32(s.flags))
		le.PutUint64(p[16:], s.addr)
		le.PutUint64(p[24:], s.addr)
		le.PutUint64(p[32:], s.size) // from the file's (padded) zeros
		le.PutUint64(p[40:], s.size)
		le.PutUint64(p[48:], 4096)
		le.PutUint64(p[8:], 4096) // file offset
		if s.addr == 0 {
			le.PutUint32(p, 0x6474e551) // PT_GNU_STACK
			le.PutUint64(p[8:], 0)
		}
	}
	return append(b, make([]byte, 4096+dataSize-len(b))...)
}

// withNative runs f with a child, on a locked thread; it skips the test if the
// system doesn't let a process be traced.
func withNative(t *testing.T, f func(n *native)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	n, err := startNative(t.TempDir())
	if err != nil {
		var e syscall.Errno
		if errors.As(err, &e) && (e == syscall.EPERM || e == syscall.ENOSYS || e == syscall.EACCES || e == syscall.ESRCH) {
			t.Skipf("no comparison with the real processor: ptrace isn't permitted here: %v", err)
		}
		t.Fatal(err)
	}
	defer n.close()
	f(n)
}
