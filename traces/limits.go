package traces

// Limits on what a file may ask a reader to hold. A Writer refuses to exceed
// them, a Reader reports a file that does.
const (
	MaxStreams     = 1 << 20  // streams in a trace
	MaxChunkRaw    = 1 << 20  // bytes of one chunk, uncompressed
	MaxHeader      = 4 << 20  // bytes of the header's fields
	MaxHeaderPairs = 1 << 17  // fields in the header, one per argument of the program
	MaxIndexRaw    = 1 << 30  // bytes of the index, uncompressed
	MaxBytes       = 64 << 10 // bytes of one byte-string field
	MaxString      = 16 << 10 // bytes of one text field
	MaxItems       = 8 << 10  // items of one list field
)

// chunkTarget is the size, uncompressed, at which a Writer cuts a chunk. A
// bigger one compresses better, a smaller one loses less in a crash and
// decodes sooner. maxPacket bounds how far one packet exceeds it.
const (
	chunkTarget = 256 << 10
	maxPacket   = MaxChunkRaw - chunkTarget
)

// maxBuffered bounds what a Writer holds of unfinished chunks, all streams
// together, in bytes; beyond it, all are cut.
const maxBuffered = 64 << 20
