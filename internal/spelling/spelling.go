// Package spelling tells how far two words are from each other.
package spelling

// Edits is the number of insertions, deletions, substitutions and
// transpositions of neighbours that turn a into b (optimal string alignment).
func Edits(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[(i+1)%3], rows[(i-1)%3], rows[i%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}

// longest is the longest word that Slip looks at, in bytes.
const longest = 64

// Slip reports whether one letter that is missing, too many or another, or two that
// changed places, lie between two words.
func Slip(a, b string) bool {
	return len(a) <= longest && len(b) <= longest && max(len(a)-len(b), len(b)-len(a)) <= 1 && Edits(a, b) == 1
}
