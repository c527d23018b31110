#!/usr/bin/env python3
"""Prints a .ttd trace as JSON, one packet a line: a second reader of the format.

It knows of the format what trace-format.md says, whose tables of packets it
reads, and shares no code with racesim. A test compares what the two read
(traces/reader_test.go). Usage: read_ttd.py FILE.ttd

It needs the libraries libzstd and libxxhash; without them it ends with 77.
A damaged trace ends it with 1 and a line that says where.
"""
import ctypes, ctypes.util, json, os, re, struct, sys

SYNC, FILES = 0xFFFFFFFF, 0xFFFFFFFE


class Damaged(Exception):
    pass


def library(name):
    path = ctypes.util.find_library(name)
    if not path:
        print("lib%s is missing" % name, file=sys.stderr)
        sys.exit(77)
    return ctypes.CDLL(path)


zstd, xxh = library("zstd"), library("xxhash")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
xxh.XXH3_64bits.restype = ctypes.c_uint64
xxh.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def hash64(b):
    return xxh.XXH3_64bits(bytes(b), len(b))


def check(what, b, want):
    if hash64(b) != want:
        raise Damaged("%s: hash %016x, expected %016x" % (what, hash64(b), want))


def unpacked(b, length):
    """A payload as it stands in the file, uncompressed."""
    if len(b) == length:
        return b
    out = ctypes.create_string_buffer(length + 1)
    n = zstd.ZSTD_decompress(out, length + 1, bytes(b), len(b))
    if n != length:
        raise Damaged("the payload doesn't decompress to %d bytes" % length)
    return out.raw[:length]


class Bytes:
    """Numbers and strings, one after the other."""

    def __init__(self, b):
        self.b, self.at = b, 0

    def take(self, n):
        if n > len(self.b) - self.at:
            raise Damaged("ends early")
        self.at += n
        return self.b[self.at - n : self.at]

    def byte(self):
        return self.take(1)[0]

    def uvarint(self):
        v = shift = 0
        while True:
            x = self.byte()
            v |= (x & 0x7F) << shift
            shift += 7
            if v >> 64:
                raise Damaged("a number of more than 64 bits")
            if x < 0x80:
                return v

    def zigzag(self):
        v = self.uvarint()
        return v >> 1 ^ -(v & 1)

    def string(self):
        return self.take(self.uvarint())


def tables(page):
    """The packets of the page's table: number -> (name, [(field, encoding)])."""
    text = open(page).read()
    rows = text[text.index("<!-- packets -->") : text.index("<!-- /packets -->")]
    kinds = {}
    for number, name, fields in re.findall(r"^\| (\d+) \| `([^`]+)` \| \w+ \| ([^|]*) \|", rows, re.M):
        kinds[int(number)] = (name, re.findall(r"(\w+): \*(\w+)\*", fields))
    version = int(re.search(r"trace format, version (\d+)", text).group(1))
    return kinds, version


class Chunk:
    def __init__(self, f, offset):
        head = f[offset : offset + 72]
        if len(head) < 72 or head[:4] != b"TTDC":
            raise Damaged("no chunk at offset %#x" % offset)
        self.offset = offset
        (self.stream, self.packets, self.keys, self.length, self.stored, self.base_count, self.last_count,
         self.base_min, self.last_min, self.hash) = struct.unpack_from("<5I5Q", head, 4)
        check("chunk at offset %#x: header" % offset, head[:64], struct.unpack_from("<Q", head, 64)[0])
        self.payload = f[offset + 72 : offset + 72 + self.stored]
        if len(self.payload) < self.stored:
            raise Damaged("chunk at offset %#x: ends early" % offset)
        check("chunk at offset %#x" % offset, self.payload, self.hash)
        self.next = offset + 72 + self.stored

    def read(self, kinds):
        """Yields count, kind, fields of the packets."""
        b = Bytes(unpacked(self.payload, self.length))
        count, self.min, self.line = self.base_count, self.base_min, 0
        self.entries, self.named, self.page = {}, 0, 0
        for _ in range(self.packets):
            tag = b.byte()
            if tag not in kinds:
                raise Damaged("chunk at offset %#x: packet of kind %d" % (self.offset, tag))
            if self.stream not in (0, FILES):
                count += b.uvarint()
            name, fields = kinds[tag]
            values = {f: self.field(b, e) for f, e in fields}
            if name == "tlb":
                self.entries[values["entry"]] = [values["page"], 0]
            yield count, name, values
        if b.at != len(b.b) or count != self.last_count or self.min != self.last_min:
            raise Damaged("chunk at offset %#x: ends at count %d and min %d" % (self.offset, count, self.min))

    def field(self, b, encoding):
        if encoding == "min":
            self.min = (self.min + b.zigzag()) & (1 << 64) - 1
            return self.min
        if encoding == "line":
            entry = 1
            if self.entries:
                v = b.uvarint()
                entry = v >> 6
            if entry == 1:
                self.line = (self.line + b.zigzag()) & (1 << 64) - 1
                return self.line
            if entry:
                self.named = entry - 1
            if self.named not in self.entries:
                raise Damaged("chunk at offset %#x: no tlb entry %d" % (self.offset, self.named))
            place = self.entries[self.named]
            place[1] = (place[1] + v) & 63
            self.line = place[0] << 6 | place[1]
            return self.line
        if encoding == "page":
            self.page = (self.page + b.zigzag()) & (1 << 64) - 1
            return self.page
        if encoding == "since":
            return (self.min - b.zigzag()) & (1 << 64) - 1
        if encoding == "full":
            return b.take(64).hex()
        if encoding == "zero":
            return bytes(64).hex()
        if encoding == "mask":
            mask = struct.unpack("<Q", b.take(8))[0]
            return bytes(b.byte() if mask >> i & 1 else 0 for i in range(64)).hex()
        if encoding == "fixed":
            return struct.unpack("<Q", b.take(8))[0]
        if encoding == "number":
            return b.uvarint()
        if encoding == "signed":
            return b.zigzag()
        if encoding == "byte":
            return b.byte()
        if encoding == "six":
            return [b.uvarint() for _ in range(6)]
        if encoding == "bytes":
            return b.string().hex()
        if encoding == "numbers":
            return [b.uvarint() for _ in range(b.uvarint())]
        if encoding == "objects":
            return [[b.byte(), b.uvarint()] for _ in range(b.uvarint())]
        if encoding == "ranges":
            out, at = [], 0
            for _ in range(b.uvarint()):
                at = (at + b.zigzag()) & (1 << 64) - 1
                out.append([at, b.uvarint()])
            return out
        if encoding == "counters":
            return [[b.string().hex(), b.uvarint()] for _ in range(b.uvarint())]
        raise Damaged("encoding %s is new" % encoding)


def header(f, version):
    """The fields of the header and where the first chunk begins."""
    if len(f) < 24 or f[:4] != b"TTD\x1a":
        raise Damaged("not a trace")
    v, n, number = struct.unpack_from("<3I", f, 4)
    if not 1 <= v <= version:
        raise Damaged("version %d of the format" % v)
    if 24 + n > len(f):
        raise Damaged("header: ends early")
    check("header", f[: 16 + n], struct.unpack_from("<Q", f, 16 + n)[0])
    b = Bytes(f[16 : 16 + n])
    return [[b.string().hex(), b.string().hex()] for _ in range(number)], 24 + n


def indexed(f, start):
    """The offsets of the chunks as footer and index have them, None without."""
    foot = f[-32:]
    if len(f) < start + 32 or foot[:4] != b"TTDF" or hash64(foot[:24]) != struct.unpack_from("<Q", foot, 24)[0]:
        return None
    at, size = struct.unpack_from("<2Q", foot, 8)
    if size != len(f) or f[at : at + 4] != b"TTDI":
        return None
    length, stored, want = struct.unpack_from("<2IQ", f, at + 4)
    payload = f[at + 20 : at + 20 + stored]
    check("index", payload, want)
    b = Bytes(unpacked(payload, length))
    offsets, offset = [], start
    for _ in range(b.uvarint()):
        row = [b.uvarint() for _ in range(10)]
        offsets.append(offset)
        offset += 72 + row[4]
    return offsets


def main(path):
    kinds, version = tables(os.path.join(os.path.dirname(os.path.abspath(__file__)), "trace-format.md"))
    f = open(path, "rb").read()
    fields, start = header(f, version)
    print(json.dumps({"header": fields}))
    offsets = indexed(f, start)
    chunks, offset = [], start
    while offsets is None or len(chunks) < len(offsets):
        try:
            if offsets is not None and offset != offsets[len(chunks)]:
                raise Damaged("chunk %d at offset %#x, by the index %#x" % (len(chunks), offset, offsets[len(chunks)]))
            chunks.append(Chunk(f, offset))
        except Damaged:
            if offsets is not None:
                raise
            break  # an incomplete trace ends before its first chunk that isn't whole
        offset = chunks[-1].next
    for stream in sorted({c.stream for c in chunks} - {SYNC}):
        for c in chunks:
            if c.stream == stream:
                for count, name, fields in c.read(kinds):
                    name = {"import-zero": "import", "import-mask": "import"}.get(name, name)
                    print(json.dumps({"stream": stream, "count": count, "kind": name, "fields": fields}))


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Damaged as e:
        print("%s: %s" % (sys.argv[1], e), file=sys.stderr)
        sys.exit(1)
