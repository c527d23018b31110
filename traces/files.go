package traces

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/zeebo/xxh3"
)

// FilesStream is the number of the stream that holds the files which the
// program was made of: its executable, libraries, their separate debugging
// information. Replay doesn't need it.
const FilesStream = 1<<32 - 2

// A FileInfo names a file as it was when it was recorded.
type FileInfo struct {
	// Of is empty for a module; for separate debugging information it is the
	// path of its module.
	Of      string
	Path    string
	BuildID string // hexadecimal, empty: none
	Size    int64  // bytes
	ModTime int64  // ns since 1970
	Hash    uint64 // XXH3 of its content
}

// A StoredFile is a file that a trace knows. It is safe for concurrent use,
// until the Reader is closed.
type StoredFile struct {
	FileInfo
	r      *Reader
	pieces []piece
	n      int64 // bytes in pieces
	whole  bool
}

// A piece is a run of bytes of a StoredFile within a chunk.
type piece struct {
	off   int64 // in the file
	chunk int32
	at, n int // in the chunk's payload
}

// contentSize is how much of a file goes into a packet.
const contentSize = MaxBytes

// HashFile returns what FileInfo.Hash is of a file, and its size.
func HashFile(f io.ReaderAt) (hash uint64, size int64, err error) {
	h := xxh3.New()
	size, err = io.Copy(h, io.NewSectionReader(f, 0, 1<<62))
	return h.Sum64(), size, err
}

// PutFile puts a file in the trace, or, if content is nil, only says what it
// was. It is an error if content isn't f.Size bytes.
func (w *Writer) PutFile(f FileInfo, content io.ReaderAt) error {
	p := Packet{Kind: File, Name: f.Of, Path: f.Path, BuildID: f.BuildID, Size: f.Size, ModTime: f.ModTime, Hash: f.Hash, In: content != nil}
	if err := w.Put(FilesStream, 0, &p); err != nil || content == nil {
		return err
	}
	b := make([]byte, min(contentSize, f.Size))
	for off := int64(0); off < f.Size; {
		b = b[:min(int64(len(b)), f.Size-off)]
		if n, err := content.ReadAt(b, off); n < len(b) {
			return fmt.Errorf("traces: %s: %d bytes read, expected %d: %w", f.Path, off+int64(n), f.Size, err)
		}
		if err := w.Put(FilesStream, 0, &Packet{Kind: Content, Bytes: b}); err != nil {
			return err
		}
		off += int64(len(b))
	}
	return nil
}

// CopyFiles puts what another trace knows of files in this one. A damaged file
// is an error.
func (w *Writer) CopyFiles(r *Reader) error {
	files, err := r.Files()
	for _, f := range files {
		var content io.ReaderAt
		if f.whole {
			content = f
		}
		if e := w.PutFile(f.FileInfo, content); e != nil {
			return e
		}
	}
	return err
}

// Files lists the files that the trace knows. The first call reads all of
// FilesStream. The error is that of a damaged chunk; what comes before is
// returned, too.
func (r *Reader) Files() ([]*StoredFile, error) {
	r.filesOnce.Do(func() { r.files, r.filesErr = r.readFiles() })
	return r.files, r.filesErr
}

func (r *Reader) readFiles() ([]*StoredFile, error) {
	var out []*StoredFile
	var f *StoredFile
	c := r.Cursor(FilesStream)
	for {
		p, err := c.Next()
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if f != nil && (p == nil || p.Kind == File) {
			f.whole = f.whole && f.n == f.Size && f.Size > 0
		}
		if p == nil {
			return out, err
		}
		if p.Kind == File {
			f = &StoredFile{FileInfo{p.Name, p.Path, p.BuildID, p.Size, p.ModTime, p.Hash}, r, nil, 0, p.In}
			out = append(out, f)
			continue
		}
		if f == nil {
			return out, c.errorf("content of no file")
		}
		n := len(p.Bytes)
		f.pieces = append(f.pieces, piece{f.n, c.chunks[c.place], c.d.off - n, n})
		f.n += int64(n)
	}
}

// Embedded says whether the trace has all of the file's content.
func (f *StoredFile) Embedded() bool { return f.whole }

// ReadAt reads the file's content.
func (f *StoredFile) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("traces: negative offset")
	}
	i := sort.Search(len(f.pieces), func(i int) bool { return f.pieces[i].off+int64(f.pieces[i].n) > off })
	for ; n < len(b) && i < len(f.pieces); i++ {
		p := &f.pieces[i]
		raw, err := f.r.chunk(p.chunk)
		if err != nil {
			return n, fmt.Errorf("traces: %s: chunk %d at offset %#x: %w", f.Path, p.chunk, f.r.idx.chunks[p.chunk].offset, err)
		}
		k := copy(b[n:], raw[p.at : p.at+p.n][off+int64(n)-p.off:])
		n += k
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// FilesSize returns how many bytes of the trace hold FilesStream.
func (r *Reader) FilesSize() (bytes int64) {
	for _, n := range r.byStream[FilesStream] {
		bytes += chunkHeaderSize + int64(r.idx.chunks[n].stored)
	}
	return bytes
}
