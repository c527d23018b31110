package linux

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Keys of the auxiliary vector (uapi/linux/auxvec.h).
const (
	atNull        = 0
	atPhdr        = 3
	atPhent       = 4
	atPhnum       = 5
	atPagesz      = 6
	atBase        = 7
	atFlags       = 8
	atEntry       = 9
	atUID         = 11
	atEUID        = 12
	atGID         = 13
	atEGID        = 14
	atPlatform    = 15
	atHWCap       = 16
	atClkTck      = 17
	atSecure      = 23
	atRandom      = 25
	atHWCap2      = 26
	atExecfn      = 31
	atMinSigStkSz = 51

	minSigStkSz    = frameSize + 8 + fpstateSize + 64 + redZone
	hwcap2FSGSBase = 1 << 1         // RDFSBASE and its kin may be used
	stackArgsLimit = stackLimit / 4 // bytes of arguments and environment
)

// A layout is where a program is put.
type layout struct{ pie, mmapTop uint64 }

// layoutOf returns the layout of the n-th program of a process. All differ, so
// that an address in a recording means one thing.
func layoutOf(n int) layout {
	k := uint64(n % 1024)
	return layout{pieBase - k<<32, mmapTop - k<<34}
}

// buildStack maps the main thread's stack and writes what a program finds
// there (System V ABI, 3.4.1): argc, argv, envp, auxv, and above the strings.
// It returns the stack pointer.
func (p *Process) buildStack(img *image) (uint64, error) {
	p.AS.place(&vma{start: stackTop - stackLimit, end: stackTop,
		prot: unix.PROT_READ | unix.PROT_WRITE, name: "[stack]"})

	sp := uint64(stackTop - 8)
	size := 0
	push := func(b []byte) uint64 {
		sp -= uint64(len(b))
		size += len(b)
		p.AS.write(nil, sp, b)
		return sp
	}
	text := func(s string) uint64 { return push(append([]byte(s), 0)) }

	for _, s := range p.env {
		size += len(s) + 9
	}
	for _, s := range p.argv {
		size += len(s) + 9
	}
	if size > stackArgsLimit {
		return 0, fmt.Errorf("linux: %d bytes of arguments and environment, maximum %d", size, stackArgsLimit)
	}
	_, _, _, hwcap := p.cfg.CPU.CPUID(1, 0)
	execfn := text(img.execfn)
	envp := make([]uint64, len(p.env))
	for i := len(p.env) - 1; i >= 0; i-- {
		envp[i] = text(p.env[i])
	}
	argv := make([]uint64, len(p.argv))
	for i := len(p.argv) - 1; i >= 0; i-- {
		argv[i] = text(p.argv[i])
	}
	platform := text("x86_64")
	seed := make([]byte, 16)
	p.rng.fill(seed)
	random := push(seed)
	sp &^= 15

	aux := []uint64{
		atMinSigStkSz, minSigStkSz,
		atHWCap, uint64(hwcap),
		atPagesz, PageSize,
		atClkTck, ticks,
		atPhdr, img.phdr,
		atPhent, uint64(img.phent),
		atPhnum, uint64(img.phnum),
		atBase, img.base,
		atFlags, 0,
		atEntry, img.entry,
		atUID, uint64(p.cred.uid[0]),
		atEUID, uint64(p.cred.uid[1]),
		atGID, uint64(p.cred.gid[0]),
		atEGID, uint64(p.cred.gid[1]),
		atSecure, 0,
		atRandom, random,
		atHWCap2, hwcap2FSGSBase,
		atExecfn, execfn,
		atPlatform, platform,
		atNull, 0,
	}
	words := []uint64{uint64(len(argv))}
	words = append(words, argv...)
	words = append(words, 0)
	words = append(words, envp...)
	words = append(words, 0)
	auxAt := len(words)
	words = append(words, aux...)

	b := make([]byte, 8*len(words))
	for i, w := range words {
		put64(b[8*i:], w)
	}
	p.auxv = b[8*auxAt:]
	sp -= uint64(len(b))
	sp &^= 15
	if e := p.AS.write(nil, sp, b); e != 0 {
		return 0, fmt.Errorf("linux: initial stack: %w", e)
	}
	return sp, nil
}
