// Package plot draws reliability diagrams as SVG: how often something came true
// against how often it was said to.
package plot

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// A Diagram is a square with a diagonal, on which what is calibrated lies.
type Diagram struct {
	Title, X, Y string
	// Log makes both axes logarithmic, from Min to 1; otherwise they go from Min
	// to 1 evenly.
	Log    bool
	Min    float64
	Ticks  []float64
	Series []Series
}

// A Series is a line through points, or points alone.
type Series struct {
	Name   string
	Points []Point
	Line   bool
}

// A Point has an interval, unless Lo and Hi are both 0, and a size (0: the
// default).
type Point struct{ X, Y, Lo, Hi, Size float64 }

// colours that are told apart by most people.
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666", "#b8a800"}

const (
	side   = 360.0
	left   = 70.0
	top    = 40.0
	legend = 220.0
)

// SVG renders the diagram.
func (d *Diagram) SVG() string {
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	w, h := left+side+legend, top+side+60
	f(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="sans-serif" font-size="12">`, w, h, w, h)
	f(`<rect width="%.0f" height="%.0f" fill="white"/>`, w, h)
	f(`<text x="%.0f" y="22" font-size="14">%s</text>`, left, html.EscapeString(d.Title))
	f(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="none" stroke="#888"/>`, left, top, side, side)
	f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#888" stroke-dasharray="4 4"/>`, left, top+side, left+side, top)
	for _, t := range d.Ticks {
		x, y := d.at(t, t)
		f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`, x, top, x, top+side)
		f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`, left, y, left+side, y)
		f(`<text x="%.1f" y="%.1f" text-anchor="middle">%g</text>`, x, top+side+18, t)
		f(`<text x="%.1f" y="%.1f" text-anchor="end">%g</text>`, left-6, y+4, t)
	}
	f(`<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, left+side/2, top+side+42, html.EscapeString(d.X))
	f(`<text transform="translate(18 %.1f) rotate(-90)" text-anchor="middle">%s</text>`, top+side/2, html.EscapeString(d.Y))
	for i, s := range d.Series {
		c := colours[i%len(colours)]
		line := ""
		for _, p := range s.Points {
			x, y := d.at(p.X, p.Y)
			line += fmt.Sprintf("%.1f,%.1f ", x, y)
			if p.Lo != 0 || p.Hi != 0 {
				_, lo := d.at(p.X, p.Lo)
				_, hi := d.at(p.X, p.Hi)
				f(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`, x, lo, x, hi, c)
			}
			r := p.Size
			if r == 0 {
				r = 2.5
			}
			f(`<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s"/>`, x, y, r, c)
		}
		if s.Line {
			f(`<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`, strings.TrimSpace(line), c)
		}
		y := top + 10 + 18*float64(i)
		f(`<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/><text x="%.1f" y="%.1f">%s</text>`, left+side+16, y, c, left+side+26, y+4, html.EscapeString(s.Name))
	}
	f("</svg>")
	return b.String()
}

// at returns the place of a point, held within the square.
func (d *Diagram) at(x, y float64) (float64, float64) {
	scale := func(v float64) float64 {
		v = math.Max(d.Min, math.Min(1, v))
		if d.Log {
			return 1 - math.Log(v)/math.Log(d.Min)
		}
		return (v - d.Min) / (1 - d.Min)
	}
	return left + side*scale(x), top + side*(1-scale(y))
}
