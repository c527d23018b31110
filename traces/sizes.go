package traces

// Sizes says how many packets of each kind there are and how many bytes they
// take before compression, indexed by Kind. Short forms count apart in Short
// and are included in the kind that they stand for.
type Sizes struct {
	Packets [numKinds]uint64
	Bytes   [numKinds]uint64
}

// add counts one packet, by its kind in the file.
func (s *Sizes) add(tag Kind, bytes int) {
	s.Packets[tag]++
	s.Bytes[tag] += uint64(bytes)
}

// join adds what o counts.
func (s *Sizes) join(o *Sizes) {
	for k := range s.Packets {
		s.Packets[k] += o.Packets[k]
		s.Bytes[k] += o.Bytes[k]
	}
}

// Total returns packets and bytes of all kinds together.
func (s *Sizes) Total() (packets, bytes uint64) {
	for k := range s.Packets {
		packets += s.Packets[k]
		bytes += s.Bytes[k]
	}
	return packets, bytes
}

// A KindSize is one line of the statistics.
type KindSize struct {
	Kind    Kind // a short form stands for itself: import-zero, import-mask
	Packets uint64
	Bytes   uint64 // before compression
}

// List returns the kinds that occur, in the order of the table.
func (s *Sizes) List() []KindSize {
	var r []KindSize
	for k := range s.Packets {
		if s.Packets[k] != 0 {
			r = append(r, KindSize{Kind(k), s.Packets[k], s.Bytes[k]})
		}
	}
	return r
}

func (s *Sizes) encode(u func(uint64)) {
	l := s.List()
	u(uint64(len(l)))
	for _, k := range l {
		u(uint64(k.Kind))
		u(k.Packets)
		u(k.Bytes)
	}
}

// decode reads what encode wrote. Kinds beyond the table are dropped.
func (s *Sizes) decode(u func() uint64) {
	n := u()
	for i := uint64(0); i < n && i < 256; i++ {
		k, packets, bytes := u(), u(), u()
		if k < numKinds {
			s.Packets[k], s.Bytes[k] = packets, bytes
		}
	}
}
