package postgres

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"starling/internal/fhir"
)

// name is a name that a resource has and that search_name is to have, too.
type name struct {
	param int64
	text  string // folded, or a URI
	hash  int64  // of the rows in search_key that find it
	term  int64  // of those that have it
	words bool   // it is found from each word on
}

// name makes the name of a token.
func (h hasher) name(t fhir.ResourceType, v fhir.NameValue) name {
	n := name{param: h.param(t, v.Param), text: v.Folded, words: true}
	switch {
	case v.Code == "":
		n.term = h.term(t, v.Param, termNameAlone, v.Folded)
		n.hash = n.term
		return n
	case v.FoldCase:
		n.hash = h.term(t, v.Param, termFolded, fhir.FoldCase(v.Code))
	default:
		n.hash = h.term(t, v.Param, termCode, v.Code)
	}
	n.term = h.term(t, v.Param, termName, v.Folded)
	return n
}

// key tells names apart, but for a collision of hashes.
func (n name) key() int64 { return n.hash ^ n.term<<1 }

// maxWords is how many words of a name it is found from.
const maxWords = 50

// knownNames remembers which names the database has, so that only new ones are
// written: after a while none.
type knownNames struct {
	mu   sync.RWMutex
	keys map[int64]struct{}
}

// mostNames bounds what is remembered, at about 40 bytes each.
const mostNames = 1 << 16

// unknown gives the names of items that are not known, each once.
func (k *knownNames) unknown(items []*item) []name {
	var all []name
	k.mu.RLock()
	for _, it := range items {
		for _, n := range it.entries.names {
			if _, ok := k.keys[n.key()]; !ok {
				all = append(all, n)
			}
		}
	}
	k.mu.RUnlock()
	if len(all) < 2 {
		return all
	}
	slices.SortFunc(all, func(a, b name) int { return cmp.Compare(a.key(), b.key()) })
	return slices.CompactFunc(all, func(a, b name) bool { return a.key() == b.key() })
}

// forget makes all names unknown.
func (k *knownNames) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.keys)
}

// learn remembers names that are committed.
func (k *knownNames) learn(names []name) {
	if len(names) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys == nil || len(k.keys)+len(names) > mostNames {
		k.keys = make(map[int64]struct{}, len(names))
	}
	for _, n := range names {
		k.keys[n.key()] = struct{}{}
	}
}

// sendNames queues the rows of names, in the order of their key, so that those
// who write the same ones wait for each other in turn.
func sendNames(p *pipeline, names []name) {
	type row struct {
		name
		value string
	}
	var all []row
	for _, n := range names {
		text := n.text
		for range maxWords {
			all = append(all, row{n, firstCharacters(text, maxText)})
			_, rest, more := strings.Cut(text, " ")
			if text = rest; !n.words || !more {
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.param, b.param), cmp.Compare(a.value, b.value), cmp.Compare(a.hash, b.hash), cmp.Compare(a.term, b.term))
	})
	var param, hash, term []int64
	var value []string
	for _, r := range all {
		param, value, hash, term = append(param, r.param), append(value, r.value), append(hash, r.hash), append(term, r.term)
	}
	p.send(stmtAddNames, nil, int8Array(param), textArray(value), int8Array(hash), int8Array(term))
}

// named is the resources that have a name for a parameter: the rows of search_key
// that the names lead to are the candidates, and terms tell which have it.
func (c *criterionCompiler) named(param string, condition func() string) compiled {
	from := func(column string) string {
		return `SELECT n.` + column + ` FROM search_name n WHERE n.param = ` + c.sql.arg(c.hash.param(c.typ, param)) + ` AND ` + condition()
	}
	return compiled{
		set: func() string {
			return `SELECT k.rid FROM (` + from(`hash`) + ` OFFSET 0) n CROSS JOIN LATERAL (SELECT k.rid FROM search_key k WHERE k.hash = n.hash OFFSET 0) k`
		},
		test: func() string { return `r.terms && ARRAY (` + from(`term`) + `)` },
	}
}
