package plot

import (
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"
)

func TestDiagramsAreWellFormedAndWithinTheSquare(t *testing.T) {
	for _, log := range []bool{false, true} {
		d := Diagram{Title: "a < b & c", X: "said", Y: "came true", Log: log, Min: 0.01, Ticks: []float64{0.01, 0.1, 1},
			Series: []Series{{Name: "<x>", Line: true, Points: []Point{{X: 0.02, Y: 0.5, Lo: 0.4, Hi: 0.6}, {X: 0, Y: 2}}}}}
		text := d.SVG()
		dec := xml.NewDecoder(strings.NewReader(text))
		for {
			if _, err := dec.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
		for _, c := range []struct{ x, y, atX, atY float64 }{{0.01, 0.01, left, top + side}, {1, 1, left + side, top}, {0, 7, left, top}} {
			if x, y := d.at(c.x, c.y); math.Abs(x-c.atX) > 1e-9 || math.Abs(y-c.atY) > 1e-9 {
				t.Errorf("log %v: (%v, %v) is at (%v, %v), want (%v, %v)", log, c.x, c.y, x, y, c.atX, c.atY)
			}
		}
	}
}
