package checkers

import (
	"fmt"
	"strings"
)

// meant is what a name that isn't known is followed by in a message: the known
// name that it looks like, or all of them.
func meant(name string, known []string) string {
	if k := nearest(name, known); k != "" {
		return fmt.Sprintf("did you mean %q?", k)
	}
	return "known are " + strings.Join(known, ", ")
}

// nearest returns the known name that differs least, "" if all differ in more
// than a third of their letters.
func nearest(name string, known []string) string {
	best, at := 1+max(len(name), 3)/3, ""
	for _, k := range known {
		if d := distance(strings.ToLower(name), k); d < best {
			best, at = d, k
		}
	}
	return at
}

// distance counts the letters to insert, remove, replace or swap with the next
// one to make b of a (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
