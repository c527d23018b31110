package plot

import (
	"fmt"
	"os"
	"strings"
)

// PutBetween replaces what stands between two marks in a file.
func PutBetween(path, mark, text string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	open, shut := "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->"
	i, j := strings.Index(string(b), open), strings.Index(string(b), shut)
	if i < 0 || j < i {
		return fmt.Errorf("%s: no %s … %s", path, strings.TrimSpace(open), shut)
	}
	return os.WriteFile(path, []byte(string(b[:i+len(open)])+text+string(b[j:])), 0o666)
}
