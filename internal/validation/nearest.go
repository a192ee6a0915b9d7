package validation

// nearest is the name of a member that name may be a slip of: one change of a
// letter for short names, two for longer ones; "" if none is that near.
func nearest(name string, members map[string]*member) string {
	const longest = 64 // names of elements are shorter
	if len(name) > longest {
		return ""
	}
	best, least := "", 1+min(2, (len(name)+1)/3)
	for known := range members {
		d := distance(name, known)
		if d < least || d == least && best != "" && known < best {
			best, least = known, d
		}
	}
	return best
}

// distance counts the insertions, removals, replacements and exchanges of
// neighbouring bytes between two names; letters differing in case count one.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older := before
		before, row = row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(before[j]+cost, before[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
