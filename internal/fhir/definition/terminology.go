package definition

import (
	"encoding/json"
	"strings"
	"sync"
)

// terminology resolves value sets from the code systems of the file. Each is
// read on first use and kept in the form asked for.
type terminology struct {
	file    *file
	mu      sync.Mutex
	systems map[string]*codeSystem
	sets    map[string]*codeSet
	names   map[string]string // interned strings
}

// codeSet is an enumerated value set; ok is false for one that cannot be.
type codeSet struct {
	codes map[string][]string
	ok    bool
}

func newTerminology(f *file) *terminology {
	return &terminology{file: f, systems: map[string]*codeSystem{}, sets: map[string]*codeSet{}, names: map[string]string{}}
}

// Codes gives the codes of a value set that can be enumerated from the
// specification's own code systems; ok is false for one that cannot (SNOMED CT,
// LOINC, UCUM, BCP-47, …) or is unknown. The map's key is the code, its value
// the systems it comes from.
func (r *Registry) Codes(valueSet string) (codes map[string][]string, ok bool) {
	t := r.terminology
	t.mu.Lock()
	defer t.mu.Unlock()
	set := t.set(valueSet)
	return set.codes, set.ok
}

// CaseSensitive reports whether the codes of a code system differ by case;
// known is false for a system the specification does not define.
func (r *Registry) CaseSensitive(system string) (sensitive, known bool) {
	t := r.terminology
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.system(system)
	if s == nil {
		return false, false
	}
	return s.CaseSensitive, true
}

// set resolves a value set. While it is being resolved it counts as one that
// cannot be, so a value set that imports itself ends.
func (t *terminology) set(canonical string) *codeSet {
	if set := t.sets[canonical]; set != nil {
		return set
	}
	set := &codeSet{}
	t.sets[canonical] = set
	n, ok := t.file.find(canonical)
	if !ok {
		url, _, _ := strings.Cut(canonical, "|")
		if n, ok = t.file.find(url); !ok {
			delete(t.sets, canonical) // the caller chooses the name: keep none
			return set
		}
	}
	if t.file.lines[n].resourceType != "ValueSet" {
		return set
	}
	var v valueSet
	if err := json.Unmarshal(t.file.line(n), &v); err != nil {
		panic("definition: " + err.Error())
	}
	if codes, ok := t.compose(&v.Compose); ok {
		*set = codeSet{codes: codes, ok: true}
	}
	return set
}
