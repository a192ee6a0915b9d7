package interaction

import (
	"regexp"
	"strings"
)

// narrativeLink finds the links of XHTML that a transaction rewrites:
// <a href="…"> and <img src="…">. The groups are what stands in double and in
// single quotes.
var narrativeLink = regexp.MustCompile(`<(?:a\s(?:[^<>]*\s)?href|img\s(?:[^<>]*\s)?src)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')`)

// narrativeLeads reports whether one of the links in a narrative leads.
func narrativeLeads(xhtml string, leads func(string) bool) bool {
	found := false
	eachNarrativeLink(xhtml, func(_, _ int, to string) { found = found || leads(to) })
	return found
}

// rewriteNarrative replaces the links in a narrative.
func rewriteNarrative(xhtml string, replace func(to string) (string, bool)) string {
	var out strings.Builder
	from := 0
	eachNarrativeLink(xhtml, func(start, end int, to string) {
		if replacement, ok := replace(to); ok {
			out.WriteString(xhtml[from:start])
			out.WriteString(replacement)
			from = end
		}
	})
	out.WriteString(xhtml[from:])
	return out.String()
}

// eachNarrativeLink calls fn with the place of each link and what it says.
func eachNarrativeLink(xhtml string, fn func(start, end int, to string)) {
	if !strings.Contains(xhtml, "href") && !strings.Contains(xhtml, "src") {
		return
	}
	for _, at := range narrativeLink.FindAllStringSubmatchIndex(xhtml, -1) {
		start, end := at[2], at[3]
		if start < 0 {
			start, end = at[4], at[5]
		}
		fn(start, end, strings.ReplaceAll(xhtml[start:end], "&amp;", "&"))
	}
}
