package report

import (
	"fmt"
	"html/template"
	"strings"
	"unicode/utf8"
)

// A drawing is an SVG image under construction; y grows downwards.
type drawing struct {
	b    strings.Builder
	w, h int
}

// Widths of letters differ; this is enough for most.
const letter = 6 // pixels

func (d *drawing) f(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

// text writes s at x, cut to width pixels; anchor is start, middle or end.
func (d *drawing) text(x, y, width int, class, anchor, s string) {
	if n := max(width/letter, 1); utf8.RuneCountInString(s) > n {
		s = string([]rune(s)[:n-1]) + "…"
	}
	d.f(`<text x="%d" y="%d" class="%s" text-anchor="%s">%s</text>`, x, y, class, anchor, template.HTMLEscapeString(s))
}

func (d *drawing) box(x, y, w, h int, class string) {
	d.f(`<rect x="%d" y="%d" width="%d" height="%d" rx="4" class="%s"/>`, x, y, w, h, class)
}

func (d *drawing) line(x1, y1, x2, y2 int, class string) {
	d.f(`<line x1="%d" y1="%d" x2="%d" y2="%d" class="%s"/>`, x1, y1, x2, y2, class)
}

func (d *drawing) html(title string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" width="%d" role="img"><title>%s</title>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" class="tip"/></marker></defs>
%s</svg>`, d.w, d.h, d.w, template.HTMLEscapeString(title), d.b.String()))
}

// figure draws a race: time runs downwards, a lane for each side. If an
// interleaving was found that goes wrong it shows that one, else the order of
// the recording.
func (x *Race) figure() template.HTML {
	const width, laneW, top, step = 720, 300, 56, 46
	lane := [2]int{width / 4, 3 * width / 4}
	d := &drawing{w: width}
	for k := range x.Accesses {
		a := &x.Accesses[k]
		d.box(lane[k]-laneW/2, 4, laneW, 36, "head")
		d.text(lane[k], 19, laneW-12, "strong", "middle", a.who())
		d.text(lane[k], 34, laneW-12, "", "middle", a.Function+", "+a.Place())
	}
	var turns []Turn
	var outputs []Output
	if e := x.telling(); e != nil && len(e.Schedule) > 0 {
		turns, outputs = e.Schedule, e.Outputs
	}
	y := top
	if turns == nil {
		for k := range x.Accesses {
			a := &x.Accesses[k]
			d.f(`<circle cx="%d" cy="%d" r="6" class="dot"/>`, lane[k], y+12)
			s := a.Op
			if a.Value != "" {
				s += ", value " + a.Value
			}
			d.text(lane[k]+12, y+16, laneW/2-12, "", "start", s)
			y += step
		}
	}
	last := -1
	for _, t := range turns {
		if t.Side < 0 || t.Side > 1 {
			continue
		}
		if last >= 0 && last != t.Side {
			d.f(`<line x1="%d" y1="%d" x2="%d" y2="%d" class="switch" marker-end="url(#tip)"/>`, lane[last], y-10, lane[t.Side], y-1)
		}
		d.box(lane[t.Side]-laneW/2+20, y, laneW-40, step-12, "run")
		d.text(lane[t.Side], y+21, laneW-52, "", "middle", "runs "+until(t))
		y += step
		last = t.Side
	}
	for k := range lane {
		d.f(`<line x1="%d" y1="40" x2="%d" y2="%d" class="lane"/>`, lane[k], lane[k], y)
	}
	if turns == nil {
		d.text(width/2, y+16, width-20, "muted", "middle", "as recorded; nothing orders the two")
		y += 24
	}
	for i, o := range outputs {
		if i == 4 {
			d.text(width/2, y+18, width-20, "muted", "middle", fmt.Sprintf("and %d more", len(outputs)-i))
			y += 24
			break
		}
		d.text(width/2, y+18, width-20, "bad", "middle", fmt.Sprintf("%s is %s; neither order of the two ends so, one with %s", o.Name, o.Reemulated, o.Recorded))
		y += 24
	}
	d.h = y + 8
	return d.html("how " + x.Location.Name() + " is raced for")
}

func until(t Turn) string {
	if strings.HasPrefix(t.Until, "to ") {
		return t.Until
	}
	return "until " + t.Until
}

// figure draws an experiment with a replaced load: what flowed in, what came out.
func (e *Experiment) figure() template.HTML {
	if e.Replacement == "" {
		return ""
	}
	const width, w1, w2, gap, row = 720, 200, 180, 40, 22
	n := min(len(e.Outputs), 4)
	h := max(64, 16+row*n)
	d := &drawing{w: width, h: h + 8}
	mid := h/2 + 4
	d.box(4, mid-28, w1, 56, "head")
	d.text(4+w1/2, mid-8, w1-12, "", "middle", "load at "+e.Load)
	d.text(4+w1/2, mid+14, w1-12, "strong", "middle", e.Recorded+" → "+e.Replacement)
	x := 4 + w1
	d.f(`<line x1="%d" y1="%d" x2="%d" y2="%d" class="switch" marker-end="url(#tip)"/>`, x, mid, x+gap, mid)
	x += gap
	d.box(x, mid-22, w2, 44, "run")
	d.text(x+w2/2, mid+4, w2-12, "", "middle", e.Function)
	x += w2
	d.f(`<line x1="%d" y1="%d" x2="%d" y2="%d" class="switch" marker-end="url(#tip)"/>`, x, mid, x+gap, mid)
	x += gap + 8
	class := ""
	if e.Normal != nil && !*e.Normal {
		class = "bad"
	}
	y := mid - row*n/2 + 15
	for _, o := range e.Outputs[:n] {
		d.text(x, y, width-x-4, class, "start", fmt.Sprintf("%s: %s → %s", o.Name, o.Recorded, o.Reemulated))
		y += row
	}
	if n == 0 {
		d.text(x, mid+4, width-x-4, class, "start", e.Outcome)
	}
	return d.html("what another value does")
}

// what says in words how an experiment ended.
func what(e Experiment) string {
	s := e.Outcome
	if e.Normal != nil {
		if *e.Normal {
			s += fmt.Sprintf(", normal (%.2f)", e.Score)
		} else {
			s += fmt.Sprintf(", abnormal (%.2f)", e.Score)
		}
	}
	return s
}
