package races

// The lives of objects
//
// A mutex must be initialised before anybody locks it, and nobody may lock it
// when it is destroyed; a descriptor must not be closed while somebody else may
// be about to write to it. To begin and to end an object's life are writes of
// it, all other uses are reads, whatever the object is made of: these accesses
// have a shadow of their own, and conflict like those to data. What a use waits
// for comes after the access, and what it hands on before the next one.

// Where the shadows of objects are: beyond the guest's address space and below
// the addresses that Config.Canon gives.
const (
	primitives  = 1 << 62
	descriptors = 1 << 61
)

// objectAt says which object a shadow address stands for, 0 if it is memory.
func objectAt(a uint64) (kind ObjectKind, id uint64) {
	switch a >> 61 {
	case primitives >> 61:
		return ObjPrimitive, a &^ primitives
	case descriptors >> 61:
		return ObjDescriptor, (a &^ descriptors) >> granuleShift
	}
	return 0, a
}

// shadowOf returns the shadow address of an object.
func shadowOf(kind ObjectKind, id uint64) uint64 {
	if kind == ObjDescriptor {
		return descriptors | id<<granuleShift&(descriptors-1)
	}
	return primitives | id&(primitives-1)
}

// use handles OpUse.
func (d *Detector) use(t *thread, e *Event) {
	if e.Object == ObjPrimitive {
		d.primitives = true
	}
	a := shadowOf(e.Object, e.Value)
	m := byteMask(a&7, a&7+1)
	kind, v := e.Kind, uint64(0)
	if kind == Free {
		kind, v = Write, LifeEnds
	}
	d.data(t, d.granule(a), a, m, m, uint64(kind-1), e, v, t.locks)
}

// LifeEnds is the value of an access that ends an object's life; one that begins
// it has the value 0.
const LifeEnds = 1

// freedPrimitives compares the end of a block's memory with the uses of what lies in it.
func (d *Detector) freedPrimitives(t *thread, lo, hi uint64, e *Event) {
	if !d.primitives || hi > primitives {
		return
	}
	for a := lo; a < hi; {
		p := d.pages[(primitives|a)>>pageShift]
		if p == nil {
			a = (a>>pageShift + 1) << pageShift
			continue
		}
		end := min(a&^7+8, hi)
		if g := &p.gran[a>>granuleShift%pageGranules]; len(g.cells) > 0 {
			m := byteMask(a&7, end-a&^7)
			d.data(t, g, primitives|a, m, m, accessBits(e), e, 0, t.locks)
		}
		a = end
	}
}

// renew handles OpRenew.
func (d *Detector) renew(e *Event) {
	lo := shadowOf(e.Object, e.Value)
	hi := lo + 1<<granuleShift
	if e.Value == ^uint64(0) {
		lo = shadowOf(e.Object, 0)
		hi = lo + descriptors
	}
	d.clearShadow(lo, hi, false)
}
