package postgres

import (
	"slices"
	"strconv"
	"strings"

	"starling/internal/fhir"
)

// Bounds of what is indexed of a resource's words; PostgreSQL has its own, which
// these stay below.
const (
	mostWords   = 16_000
	longestWord = 100     // characters
	mostBytes   = 400_000 // of all words
)

// tsvector writes a resource's words as the text of a tsvector: those of the
// narrative with the weight A, the type of the resource as a word of its own. It is
// "" for none.
func tsvector(t fhir.ResourceType, text *fhir.TextValue) string {
	if text == nil {
		return ""
	}
	out := make([]byte, 0, 2*(len(text.Narrative)+len(text.Content))+32)
	out = append(append(append(out, '\''), t...), '\'')
	n := 0
	appendWords := func(words, weight string) {
		for word := range strings.SplitSeq(words, " ") {
			if n++; word == "" || n > mostWords || len(out) > mostBytes {
				continue
			}
			out = strconv.AppendInt(append(appendWord(append(out, ' '), word), ':'), int64(n), 10)
			out = append(out, weight...)
		}
		n++ // no phrase goes on from one to the other
	}
	appendWords(text.Narrative, "A")
	appendWords(text.Content, "")
	return string(out)
}

// appendWord appends a word in quotes.
func appendWord(dst []byte, word string) []byte {
	dst = append(dst, '\'')
	for _, c := range []byte(firstCharacters(word, longestWord)) {
		if c == '\'' || c == '\\' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '\'')
}

// words is a walk of the index of words.
func (c *criterionCompiler) words(k fhir.Text) compiled {
	query := []byte("'" + string(c.typ) + "' & (")
	words := strings.Split(k.Words, " ")
	for i, word := range words {
		if i > 0 {
			query = append(query, " <-> "...)
		}
		flags := ""
		if k.Begins && i == len(words)-1 {
			flags = "*"
		}
		if k.Narrative {
			flags += "A"
		}
		if query = appendWord(query, word); flags != "" {
			query = append(append(query, ':'), flags...)
		}
	}
	text := string(query) + ")"
	asked := func() string { return c.sql.arg(text) + `::text::tsquery` }
	return compiled{
		set:   func() string { return `SELECT w.rid FROM text_matches(` + asked() + `) w(rid)` },
		exact: true,
		test: func() string {
			return `EXISTS (SELECT FROM search_text w WHERE w.rid = r.rid AND w.words @@ ` + asked() + `)`
		},
	}
}

// wordTerms are the terms that say that a resource has words, and which.
type wordTerms struct{ present, all int64 }

func (h hasher) wordTerms(t fhir.ResourceType, words string) wordTerms {
	return wordTerms{h.term(t, "_text", termPresent), h.term(t, "_text", termText, words)}
}

func (e *entries) hasTerm(term int64) bool {
	_, found := slices.BinarySearch(e.terms, term)
	return found
}

// wordRows are the changes of search_text.
type wordRows struct {
	add, set struct {
		rid   []int64
		words []string
	}
	drop []int64
}

// change adds what an item changes. The terms of its state before say whether it
// had words, and which.
func (r *wordRows) change(it *item) {
	had := it.before.hasTerm(it.wordTerms.present)
	switch words := it.entries.words; {
	case words == "" && had:
		r.drop = append(r.drop, it.rid)
	case words == "":
	case !had:
		r.add.rid, r.add.words = append(r.add.rid, it.rid), append(r.add.words, words)
	case !it.before.hasTerm(it.wordTerms.all):
		r.set.rid, r.set.words = append(r.set.rid, it.rid), append(r.set.words, words)
	}
}

func (r *wordRows) send(p *pipeline) {
	if len(r.drop) > 0 {
		p.send(stmtDropWords, nil, int8Array(r.drop))
	}
	if len(r.set.rid) > 0 {
		p.send(stmtSetWords, nil, int8Array(r.set.rid), textArray(r.set.words))
	}
	if len(r.add.rid) > 0 {
		p.send(stmtAddWords, nil, int8Array(r.add.rid), textArray(r.add.words))
	}
}
