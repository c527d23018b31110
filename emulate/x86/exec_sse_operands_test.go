//go:build linux && amd64

package x86

import (
	"math/rand/v2"
	"testing"
)

// sseUse says which parts of a sseState an instruction may read and may write,
// according to its row and its ModRM byte.
type sseUse struct {
	xmm, mm, gpr   [6]bool
	flags, mem, mx bool
}

func sseUses(f *form, code []byte) (read, write sseUse) {
	modrm := byte(0xff)
	if f.modrm {
		modrm = code[len(code)-1-len(f.imms)]
	}
	mark := func(u *sseUse, class regClass, n int) {
		switch class {
		case classXMM:
			u.xmm[n] = true
		case classMM:
			u.mm[n] = true
		case classGPR:
			u.gpr[n] = true
		}
	}
	both := func(o operand, n int) {
		if o.read {
			mark(&read, o.class, n)
		}
		if o.write {
			mark(&write, o.class, n)
		}
	}
	for _, o := range f.args {
		switch {
		case o.place == placeDI:
			write.mem, read.mem = true, true
			read.gpr[5] = true
		case o.place == placeReg && f.modrm:
			both(o, int(modrm>>3&7))
		case o.place == placeRM && modrm < 0xc0:
			read.gpr[4] = true
			read.mem = read.mem || o.read
			write.mem = write.mem || o.write
		case o.place == placeRM:
			both(o, int(modrm&7))
		case o.kind == "xmm0":
			both(o, 0)
		case o.kind == "rax":
			both(o, 0)
		case o.kind == "ecx":
			both(o, 1)
		case o.kind == "rdx":
			both(o, 2)
		case o.kind == "mxcsr":
			read.mx, write.mx = read.mx || o.read, write.mx || o.write
		}
	}
	read.flags, write.flags = f.flags.read != 0, f.flags.write != 0
	return read, write
}

// What a row doesn't name as read can't change the result, and what it doesn't
// name as written doesn't change. Analysis relies on both.
func TestSSERowsNameAllOperands(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	emu := &sseEmulator{blocks: NewBlockCache()}
	for i := range tables {
		f, err := parseRow(&tables[i])
		if err != nil {
			t.Fatal(err)
		}
		if !isSSE(f) {
			continue
		}
		for _, code := range encodings(f, rng, 1) {
			read, write := sseUses(f, code)
			for n := range 4 {
				var a, noise sseState
				sseInput(&a, f, rng, n)
				sseInput(&noise, f, rng, n)
				a.MXCSR, noise.MXCSR = a.MXCSR|mxMasks, noise.MXCSR|mxMasks
				b := a
				for i := range a.XMM {
					if !read.xmm[i] && !write.xmm[i] {
						b.XMM[i] = noise.XMM[i]
					} else if !read.xmm[i] {
						b.XMM[i][0], b.XMM[i][1] = ^a.XMM[i][0], ^a.XMM[i][1]
					}
				}
				for i := range a.GPR {
					if !read.gpr[i] {
						b.GPR[i] = noise.GPR[i]
					}
				}
				for i := range a.MM {
					if !read.mm[i] {
						b.MM[i] = noise.MM[i]
					}
				}
				if !read.flags {
					b.Flags = noise.Flags
				}
				if !read.mx {
					b.MXCSR = noise.MXCSR
				}
				before := [2]sseState{a, b}
				emu.step(code, &a, 4*n)
				emu.step(code, &b, 4*n)
				if a.Signal != 0 || b.Signal != 0 {
					continue
				}
				for i := range a.XMM {
					if write.xmm[i] && a.XMM[i] != b.XMM[i] {
						t.Errorf("%s (%s; % x): xmm%d depends on what the row doesn't read", f.mnem, f.enc, code, i)
					}
					if !write.xmm[i] && a.XMM[i] != before[0].XMM[i] {
						t.Errorf("%s (%s; % x): xmm%d is written", f.mnem, f.enc, code, i)
					}
				}
				for i := range a.GPR {
					if write.gpr[i] && a.GPR[i] != b.GPR[i] {
						t.Errorf("%s (%s; % x): general register %d depends on what the row doesn't read", f.mnem, f.enc, code, i)
					}
					if !write.gpr[i] && a.GPR[i] != before[0].GPR[i] {
						t.Errorf("%s (%s; % x): general register %d is written", f.mnem, f.enc, code, i)
					}
				}
				for i := range a.MM {
					if write.mm[i] && a.MM[i] != b.MM[i] {
						t.Errorf("%s (%s; % x): mm%d depends on what the row doesn't read", f.mnem, f.enc, code, i)
					}
					if !write.mm[i] && a.MM[i] != before[0].MM[i] {
						t.Errorf("%s (%s; % x): mm%d is written", f.mnem, f.enc, code, i)
					}
				}
				if write.flags && (a.Flags^b.Flags)&arithFlags != 0 {
					t.Errorf("%s (%s; % x): flags depend on what the row doesn't read", f.mnem, f.enc, code)
				}
				if !write.flags && a.Flags&arithFlags != before[0].Flags&arithFlags {
					t.Errorf("%s (%s; % x): flags are written", f.mnem, f.enc, code)
				}
				if !write.mem && a.Mem != before[0].Mem {
					t.Errorf("%s (%s; % x): memory is written", f.mnem, f.enc, code)
				}
				if !write.mx && a.MXCSR != before[0].MXCSR {
					t.Errorf("%s (%s; % x): MXCSR is written", f.mnem, f.enc, code)
				}
			}
		}
	}
}
