// Package linux is the Linux kernel as a guest sees it: it loads unmodified
// x86-64 ELF programs, answers their system calls, delivers their signals,
// keeps their clock and decides who runs next.
//
// It is not a sandbox: files, pipes and sockets are the host's, reached with
// the rights of the process that runs the guest. It isn't a recorder either:
// whoever wants to know what happens implements Hooks and calls New and
// Process.Run. Guest memory is the recorder's to serve (Hooks includes
// x86.Memory), from the frames that AddressSpace.Translate finds.
//
// One goroutine, the caller of Run, executes all guest threads and makes every
// call to Hooks. Helper goroutines only wait, for host descriptors and
// signals. What the guest can't tell from a run to a run is fixed: addresses,
// process numbers, random bytes and, with the virtual clock, time; threads
// take turns as a seed determines. So the same program with the same input and
// seed runs the same, instruction for instruction, as far as the outside world
// lets it.
//
// The system calls are a table, in sys_*.go by family; what isn't supported
// stands there, too, and ends the guest with an *Unsupported error.
//
// Sources: the Linux manual pages (sections 2 and 7), the System V ABI for
// x86-64, the ELF specification, and for layouts the kernel's uapi headers.
package linux
