package postgres

import (
	"slices"
	"strings"

	"starling/internal/fhir"
)

// has tests for a term of the resource.
func (c *criterionCompiler) has(term int64) func() string {
	return func() string { return c.sql.arg(term) + ` = ANY (r.terms)` }
}

// walk is the set of resources with one of some terms of search_key. Of a few the
// walks can be merged in the order of rid, each leaving out what those before it
// have.
func (c *criterionCompiler) walk(terms []int64) func() string {
	return func() string {
		if len(terms) > mergedHashes {
			return `SELECT rid FROM search_key WHERE hash = ANY (` + c.sql.arg(terms) + `)`
		}
		walks := make([]string, len(terms))
		for i, term := range terms {
			walks[i] = `SELECT k.rid FROM search_key k WHERE k.hash = ` + c.sql.arg(term)
			if i > 0 {
				// Mostly there is nothing before: of a code that two systems have, or in two cases.
				walks[i] += ` AND (NOT EXISTS (SELECT FROM search_key e WHERE e.hash ` + c.oneOf(terms[:i]) + `)` +
					` OR NOT EXISTS (SELECT FROM search_key e WHERE e.hash ` + c.oneOf(terms[:i]) + ` AND e.rid = k.rid OFFSET 0))`
			}
		}
		return strings.Join(walks, ` UNION ALL `)
	}
}

// oneOf compares with a term, or with any of several.
func (c *criterionCompiler) oneOf(terms []int64) string {
	if len(terms) == 1 {
		return `= ` + c.sql.arg(terms[0])
	}
	return `= ANY (` + c.sql.arg(terms) + `)`
}

// keyed is a criterion that one row term answers.
func (c *criterionCompiler) keyed(param string, kind termKind, parts ...string) compiled {
	term := c.hash.term(c.typ, param, kind, parts...)
	return c.keys(true, c.has(term), term)
}

// keys is a criterion whose candidates are found by terms of search_key.
func (c *criterionCompiler) keys(exact bool, test func() string, terms ...int64) compiled {
	return compiled{hashes: terms, exact: exact, set: c.walk(terms), test: test}
}

// filtered is a criterion whose candidates a row term finds, and another term
// tells apart.
func (c *criterionCompiler) filtered(param string, row termKind, value string, exact termKind, parts ...string) compiled {
	return c.keys(false, c.has(c.hash.term(c.typ, param, exact, parts...)), c.hash.term(c.typ, param, row, value))
}

// token: https://hl7.org/fhir/R4/search.html#token
func (c *criterionCompiler) token(k fhir.Token) compiled {
	if k.Code == nil {
		system := ""
		if k.System != nil {
			system = *k.System
		}
		// No index: nearly all values of a parameter share a system.
		return compiled{test: c.has(c.hash.term(c.typ, k.Param, termSystem, system))}
	}
	code, kind, systemKind := *k.Code, termCode, termSystemCode
	if k.FoldCase {
		code, kind, systemKind = fhir.FoldCase(code), termFolded, termSysFolded
	}
	if k.System == nil {
		return c.keyed(k.Param, kind, code)
	}
	return c.filtered(k.Param, kind, code, systemKind, *k.System, code)
}

// referenceTo: https://hl7.org/fhir/R4/search.html#reference
func (c *criterionCompiler) referenceTo(k fhir.ReferenceTo) compiled {
	if k.Version != "" {
		whatever := k
		whatever.Version = ""
		one := c.referenceTo(whatever)
		one.exact, one.test = false, c.has(c.hash.term(c.typ, k.Param, termVersion, string(k.Type), k.ID, k.URL, k.Version))
		return one
	}
	switch {
	case k.URL != "":
		return c.keyed(k.Param, termURL, k.URL)
	case k.Type != "":
		term := c.hash.reference(c.typ, k.Param, k.Type, k.ID)
		return c.keys(true, c.has(term), term)
	}
	terms := make([]int64, 0, len(c.types))
	for t := range c.types {
		terms = append(terms, c.hash.reference(c.typ, k.Param, t, k.ID))
	}
	slices.Sort(terms)
	return c.keys(true, func() string { return `r.terms && ` + c.sql.arg(terms) }, terms...)
}

// missing: https://hl7.org/fhir/R4/search.html#missing
func (c *criterionCompiler) missing(k fhir.Missing) compiled {
	present := compiled{test: c.has(c.hash.term(c.typ, k.Param, termPresent))}
	if k.Missing {
		return present.not()
	}
	return present
}

// idIn: https://hl7.org/fhir/R4/search.html#id
func (c *criterionCompiler) idIn(k fhir.IDIn) compiled {
	return compiled{
		set: func() string {
			return `SELECT rid FROM resource WHERE type = ` + c.sql.arg(c.typeID) + ` AND id = ANY (` + c.sql.arg([]string(k)) + `) AND NOT deleted`
		},
		exact: true,
		most:  len(k),
		test:  func() string { return `r.id = ANY (` + c.sql.arg([]string(k)) + `)` },
	}
}
