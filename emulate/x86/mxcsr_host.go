package x86

import "math"

// The four operations, square root and so on with the host's floating point
// where that gives the guest's result, else by integers (mxcsr_soft.go). The
// functions take and return bits, and return the exceptions met.
//
// Go computes float32 and float64 to their own precision, to nearest even.
// Explicit conversions keep the compiler from fusing multiplication and
// addition on other hosts.

// plain64 says that b isn't denormal.
func plain64(b uint64) bool { return b<<1-1 >= 1<<53-1 }
func plain32(b uint32) bool { return b<<1-1 >= 1<<24-1 }

// solid64 says that b is finite and far enough from the denormals that it can't
// have been rounded up from one.
func solid64(b uint64) bool { return b>>52&0x7ff-2 < 2045 }
func solid32(b uint32) bool { return b>>23&0xff-2 < 253 }

// precise64 says that the rounding error of a product or quotient b, or the
// square of a root, is in the range of the format.
func precise64(b uint64) bool { return b>>52&0x7ff-128 < 2047-128 }

// hostResult is the exceptions of a result that may or may not be exact.
func hostResult(exact bool) uint32 {
	if exact {
		return 0
	}
	return mxPE
}

func add64(a, b uint64, mx uint32) (uint64, uint32) {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	s := x + y
	r := math.Float64bits(s)
	if plain64(a) && plain64(b) && (solid64(r) || r<<1 == 0) {
		if mx&mxFastBits == mxFastWant {
			return r, 0
		}
		if mx&mxHostBits == mxHostWant {
			t := s - x
			return r, hostResult((x-(s-t))+(y-t) == 0)
		}
	}
	return binary64.binary(softAdd, a, b, mx)
}

func sub64(a, b uint64, mx uint32) (uint64, uint32) {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	s := x - y
	r := math.Float64bits(s)
	if plain64(a) && plain64(b) && (solid64(r) || r<<1 == 0) {
		if mx&mxFastBits == mxFastWant {
			return r, 0
		}
		if mx&mxHostBits == mxHostWant {
			t := s - x
			return r, hostResult((x-(s-t))-(y+t) == 0)
		}
	}
	return binary64.binary(softSub, a, b, mx)
}

func mul64(a, b uint64, mx uint32) (uint64, uint32) {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	p := float64(x * y)
	r := math.Float64bits(p)
	if plain64(a) && plain64(b) {
		switch {
		case mx&mxFastBits == mxFastWant && solid64(r):
			return r, 0
		case mx&mxHostBits != mxHostWant:
		case precise64(r):
			return r, hostResult(math.FMA(x, y, -p) == 0)
		case r<<1 == 0 && (x == 0 || y == 0):
			return r, 0
		}
	}
	return binary64.binary(softMul, a, b, mx)
}

func div64(a, b uint64, mx uint32) (uint64, uint32) {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	q := x / y
	r := math.Float64bits(q)
	if plain64(a) && plain64(b) {
		switch {
		case mx&mxFastBits == mxFastWant && solid64(r):
			return r, 0
		case mx&mxHostBits != mxHostWant:
		case precise64(a) && solid64(r) && solid64(b):
			return r, hostResult(math.FMA(q, y, -x) == 0)
		case x == 0 && r<<1 == 0:
			return r, 0
		}
	}
	return binary64.binary(softDiv, a, b, mx)
}

func root64(_, a uint64, mx uint32) (uint64, uint32) {
	x := math.Float64frombits(a)
	if x > 0 && mx&mxHostBits == mxHostWant && precise64(a) {
		q := math.Sqrt(x)
		if mx&mxPE != 0 {
			return math.Float64bits(q), 0
		}
		return math.Float64bits(q), hostResult(math.FMA(q, q, -x) == 0)
	}
	return binary64.sqrt(a, mx)
}

func add32(a, b uint32, mx uint32) (uint32, uint32) {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	s := x + y
	r := math.Float32bits(s)
	if plain32(a) && plain32(b) && (solid32(r) || r<<1 == 0) {
		if mx&mxFastBits == mxFastWant {
			return r, 0
		}
		if mx&mxHostBits == mxHostWant {
			t := s - x
			return r, hostResult((x-(s-t))+(y-t) == 0)
		}
	}
	return soft32(softAdd, a, b, mx)
}

func sub32(a, b uint32, mx uint32) (uint32, uint32) {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	s := x - y
	r := math.Float32bits(s)
	if plain32(a) && plain32(b) && (solid32(r) || r<<1 == 0) {
		if mx&mxFastBits == mxFastWant {
			return r, 0
		}
		if mx&mxHostBits == mxHostWant {
			t := s - x
			return r, hostResult((x-(s-t))-(y+t) == 0)
		}
	}
	return soft32(softSub, a, b, mx)
}

func mul32(a, b uint32, mx uint32) (uint32, uint32) {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	p := float32(x * y)
	r := math.Float32bits(p)
	if plain32(a) && plain32(b) && mx&mxHostBits == mxHostWant {
		switch {
		case solid32(r):
			return r, hostResult(mx&mxPE != 0 || float64(x)*float64(y) == float64(p))
		case r<<1 == 0 && (x == 0 || y == 0):
			return r, 0
		}
	}
	return soft32(softMul, a, b, mx)
}

func div32(a, b uint32, mx uint32) (uint32, uint32) {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	q := x / y
	r := math.Float32bits(q)
	if plain32(a) && plain32(b) && mx&mxHostBits == mxHostWant {
		switch {
		case solid32(r) && solid32(b):
			return r, hostResult(mx&mxPE != 0 || float64(q)*float64(y) == float64(x))
		case x == 0 && r<<1 == 0:
			return r, 0
		}
	}
	return soft32(softDiv, a, b, mx)
}

func root32(_, a uint32, mx uint32) (uint32, uint32) {
	x := math.Float32frombits(a)
	if x > 0 && mx&mxHostBits == mxHostWant && solid32(a) {
		q := float32(math.Sqrt(float64(x)))
		return math.Float32bits(q), hostResult(mx&mxPE != 0 || float64(q)*float64(q) == float64(x))
	}
	r, fl := binary32.sqrt(uint64(a), mx)
	return uint32(r), fl
}

func soft32(op softOp, a, b uint32, mx uint32) (uint32, uint32) {
	r, fl := binary32.binary(op, uint64(a), uint64(b), mx)
	return uint32(r), fl
}

// Minimum and maximum: the second operand unless the first is strictly smaller
// or larger.
func min64(a, b uint64, mx uint32) (uint64, uint32) {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	if plain64(a) && plain64(b) {
		if x < y {
			return a, 0
		}
		if x >= y {
			return b, 0
		}
	}
	return binary64.minmax(a, b, false, mx)
}

func max64(a, b uint64, mx uint32) (uint64, uint32) {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	if plain64(a) && plain64(b) {
		if x > y {
			return a, 0
		}
		if x <= y {
			return b, 0
		}
	}
	return binary64.minmax(a, b, true, mx)
}

func min32(a, b uint32, mx uint32) (uint32, uint32) {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	if plain32(a) && plain32(b) {
		if x < y {
			return a, 0
		}
		if x >= y {
			return b, 0
		}
	}
	r, fl := binary32.minmax(uint64(a), uint64(b), false, mx)
	return uint32(r), fl
}

func max32(a, b uint32, mx uint32) (uint32, uint32) {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	if plain32(a) && plain32(b) {
		if x > y {
			return a, 0
		}
		if x <= y {
			return b, 0
		}
	}
	r, fl := binary32.minmax(uint64(a), uint64(b), true, mx)
	return uint32(r), fl
}

// Conversions between formats.
func widen32(a uint32, mx uint32) (uint64, uint32) {
	x := math.Float32frombits(a)
	if x == x && plain32(a) {
		return math.Float64bits(float64(x)), 0
	}
	return binary32.convert(&binary64, uint64(a), mx)
}

func narrow64(a uint64, mx uint32) (uint32, uint32) {
	x := math.Float64frombits(a)
	s := float32(x)
	r := math.Float32bits(s)
	if mx&mxHostBits == mxHostWant && (solid32(r) || x == 0) {
		return r, hostResult(float64(s) == x)
	}
	v, fl := binary64.convert(&binary32, a, mx)
	return uint32(v), fl
}

// toInt64 converts to a signed integer of 32 or 64 bits, rounding as MXCSR says;
// bits above the size are meaningless.
func toInt64(a uint64, size uint, mx uint32) (uint64, uint32) {
	x := math.Float64frombits(a)
	limit := float64(1 << 31)
	if size == 64 {
		limit = 1 << 63
	}
	if x < limit && x > -limit && plain64(a) {
		i := int64(x)
		if float64(i) == x {
			return uint64(i), 0
		}
		if mx&mxRC == rcZero<<mxRCShift {
			return uint64(i), mxPE
		}
	}
	return binary64.toInt(a, size, mx)
}

func toInt32(a uint32, size uint, mx uint32) (uint64, uint32) {
	if plain32(a) { // a denormal may be a zero, which widen32 doesn't know
		x := math.Float32frombits(a)
		if x == x {
			return toInt64(math.Float64bits(float64(x)), size, mx)
		}
	}
	return binary32.toInt(uint64(a), size, mx)
}

// fromInt64 and fromInt32 convert a signed integer to float64 and float32.
func fromInt64(i int64, mx uint32) (uint64, uint32) {
	if i<<10>>10 == i {
		return math.Float64bits(float64(i)), 0
	}
	return binary64.fromInt(i, mx)
}

func fromInt32(i int64, mx uint32) (uint32, uint32) {
	if i<<39>>39 == i {
		return math.Float32bits(float32(i)), 0
	}
	r, fl := binary32.fromInt(i, mx)
	return uint32(r), fl
}
