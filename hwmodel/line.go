package hwmodel

// A Line is what the hardware model keeps for each 64-byte line of physical
// memory: coherence state and accounting. The zero value is memory that no
// cache holds and no stream knows.
type Line struct {
	Version uint64 // unique number of the last change by somebody else than who knows it
}
