package hwmodel

import "fmt"

// A MemoryModel says which events of threads are orderable: get a number in a
// recording that orders them among those of all threads. Each has the events of
// those before it, too. What the kernel does (system calls, signals, faults that
// become signals, the start and end of threads, who runs) always is.
type MemoryModel uint8

// The models.
const (
	_             MemoryModel = iota
	OrdersKernel              // nothing else
	OrdersFences              // LOCK-prefixed instructions, XCHG with memory, MFENCE, reading the clock
	OrdersLoads               // every load
	OrdersAcquire             // every acquire and release: on x86, every load and store
)

// ParseMemoryModel reads what String returns.
func ParseMemoryModel(s string) (MemoryModel, error) {
	for m := OrdersKernel; m <= OrdersAcquire; m++ {
		if m.String() == s {
			return m, nil
		}
	}
	return 0, fmt.Errorf("memory model %q: want kernel, fence, acqrel or loads", s)
}

func (m MemoryModel) String() string {
	if m >= OrdersKernel && m <= OrdersAcquire {
		return [...]string{"kernel", "fence", "loads", "acqrel"}[m-OrdersKernel]
	}
	return "invalid"
}

// Fences, Loads and Stores say whether these are orderable.
func (m MemoryModel) Fences() bool { return m >= OrdersFences }
func (m MemoryModel) Loads() bool  { return m >= OrdersLoads }
func (m MemoryModel) Stores() bool { return m == OrdersAcquire }
