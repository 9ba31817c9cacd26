package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Again makes facts of the same host from what it shows now: before and after are
// the texts of files that were read twice, so long apart, by their paths. What is
// not among them is as it was.
func (f *Facts) Again(before, after map[string]string, window time.Duration) (*Facts, error) {
	texts := map[string]string{}
	for from, lines := range f.texts {
		texts[from] = strings.Join(lines, "\n") + "\n"
	}
	delete(texts, "ss -tinm") // connections of another time
	maps.Copy(texts, before)
	var second strings.Builder
	for _, path := range slices.Sorted(maps.Keys(after)) {
		fmt.Fprintf(&second, "==> %s <==\n%s", path, after[path])
	}
	texts[secondSample] = second.String()
	return FromTexts(f.Host, texts, window)
}
