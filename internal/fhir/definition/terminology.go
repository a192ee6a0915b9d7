package definition

import (
	"encoding/json"
	"strings"
	"sync"
)

// terminology resolves value sets from the code systems of the file. The sets
// are kept; the code systems only while one call needs them.
type terminology struct {
	file    *file
	mu      sync.Mutex
	systems map[string]*codeSystem // by url
	sets    map[int]*codeSet       // by line
}

// codeSet is an enumerated value set; ok is false for one that cannot be.
type codeSet struct {
	codes map[string][]string
	ok    bool
}

func newTerminology(f *file) *terminology {
	return &terminology{file: f, systems: map[string]*codeSystem{}, sets: map[int]*codeSet{}}
}

// Codes gives the codes of a value set that can be enumerated from the
// specification's own code systems; ok is false for one that cannot (SNOMED CT,
// LOINC, UCUM, BCP-47, …) or is unknown. The map's key is the code, its value
// the systems it comes from. A value set with a version that the specification
// does not have is the one it has.
func (r *Registry) Codes(valueSet string) (codes map[string][]string, ok bool) {
	t := r.terminology
	t.mu.Lock()
	defer t.mu.Unlock()
	defer clear(t.systems)
	set := t.set(valueSet)
	return set.codes, set.ok
}

// CaseSensitive reports whether the codes of a code system differ by case;
// known is false for a system that the specification does not define or of
// which it does not say.
func (r *Registry) CaseSensitive(system string) (sensitive, known bool) {
	n, ok := r.file.find(system)
	if !ok || r.file.lines[n].resourceType != "CodeSystem" {
		return false, false
	}
	note := r.file.lines[n].note
	return note == "true", note != ""
}

// set resolves a value set. While it is being resolved it counts as one that
// cannot be, so a value set that imports itself ends.
func (t *terminology) set(canonical string) *codeSet {
	n, ok := t.file.find(canonical)
	if !ok {
		url, _, _ := strings.Cut(canonical, "|")
		n, ok = t.file.find(url)
	}
	if !ok || t.file.lines[n].resourceType != "ValueSet" {
		return &codeSet{}
	}
	if set := t.sets[n]; set != nil {
		return set
	}
	set := &codeSet{}
	t.sets[n] = set
	var v valueSet
	if err := json.Unmarshal(t.file.line(n), &v); err != nil {
		panic("definition: " + err.Error())
	}
	if codes, ok := t.compose(&v.Compose); ok {
		*set = codeSet{codes: codes, ok: true}
	}
	return set
}
