// Package prose makes inputs for measurements.
package prose

import (
	"bytes"
	"fmt"
	"strings"
)

// Text makes n bytes, always the same ones, that compress like prose.
func Text(n int) []byte {
	words := strings.Fields("the of and a to in is you that it he was for on are as with his they at be this have from or one had by word but not what all were we when your can said there use an each which she do how their if will up other about out many then them these so some her would make like him into time has look two more write go see number no way could people my than first water been call who oil its now find long down day did get come made may part")
	var b bytes.Buffer
	x := uint32(1)
	for b.Len() < n {
		x = x*1664525 + 1013904223
		b.WriteString(words[int(x>>16)%len(words)])
		if x>>28 == 0 {
			fmt.Fprintf(&b, " %d.\n", x>>8)
		} else {
			b.WriteByte(' ')
		}
	}
	return b.Bytes()[:n]
}
