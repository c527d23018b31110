#include "go_asm.h"
#include "textflag.h"

// func enterNative(c *CPU, at uintptr, left uint64) (b *block, way int64, rest uint64)
//
// The frame leaves room for two calls of the translated code's subroutines.
TEXT ·enterNative(SB), NOSPLIT, $32-48
	MOVQ c+0(FP), BX
	MOVQ at+8(FP), AX
	MOVQ left+16(FP), R13
	MOVQ CPU_Win(BX), R14
	MOVQ (CPU_R+0)(BX), R8
	MOVQ (CPU_R+8)(BX), R9
	MOVQ (CPU_R+16)(BX), R10
	MOVQ (CPU_R+24)(BX), R11
	MOVQ (CPU_R+32)(BX), R12
	MOVQ (CPU_R+40)(BX), BP
	MOVQ (CPU_R+48)(BX), SI
	MOVQ (CPU_R+56)(BX), DI
	MOVQ (CPU_R+64)(BX), R15
	CALL AX
	MOVQ AX, b+24(FP)
	MOVQ CX, way+32(FP)
	MOVQ R13, rest+40(FP)
	RET
