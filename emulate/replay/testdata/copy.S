# Copies the elements of an array that aren't 0, up to the end of the room for
# them, between two looks at the clock. With FAULT, two threads do so, with room
# for one element.
	.globl _start
_start:
#ifdef FAULT
	mov $13, %eax		# rt_sigaction(SIGSEGV, act, 0, 8)
	mov $11, %edi
	lea act(%rip), %rsi
	xor %edx, %edx
	mov $8, %r10d
	syscall
	mov $56, %eax		# clone: a thread
	mov $0x10f00, %edi	# VM, FS, FILES, SIGHAND, THREAD
	lea stack_end(%rip), %rsi
	xor %edx, %edx
	xor %r10d, %r10d
	xor %r8d, %r8d
	syscall			# both go on behind it
#endif
	rdtsc
	mov A(%rip), %r10
	mov B(%rip), %r11
	mov n(%rip), %r12
	mov $0, %r13
	mov $0, %r14
16:	cmp %r12, %r13
	jge 26f
	mov (%r10,%r13,8), %r15
	inc %r13
	cmp $0, %r15
	je 16b
	mov %r15, (%r11,%r14,8)
	inc %r14
	jmp 16b
26:	rdtsc
out:	mov $60, %eax		# exit(0)
	xor %edi, %edi
	syscall

	.data
act:	.quad out, 0x04000000, out, 0	# handler, SA_RESTORER, restorer, mask
A:	.quad array
n:	.quad 5
array:	.quad 5, 0, 0, 2, 2
#ifdef FAULT
B:	.quad room_end - 8
	.balign 4096
	.skip 2048
stack_end:
	.skip 2048
room_end:
#else
B:	.quad room
room:	.skip 40
#endif
