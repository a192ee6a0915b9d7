package cache

import (
	"fmt"
	"strconv"
	"strings"

	"starling/internal/fhir"
)

// VersionHeader names the version of the caches that a change of system
// resources has made. A request that carries it to any instance is answered by
// that version or a later one.
const VersionHeader = "X-Starling-Cache-Version" // as in package rest

// version is the value of VersionHeader: the lineage and the version of each
// domain in the order of fhir.Domains, joined by hyphens.
type version struct {
	lineage string
	domains [3]int64
}

func versionOf(state fhir.DomainState) (v version) {
	v.lineage = state.Lineage
	for i, domain := range fhir.Domains() {
		v.domains[i] = state.Versions[domain]
	}
	return v
}

func (v version) String() string {
	return fmt.Sprintf("%s-%d-%d-%d", v.lineage, v.domains[0], v.domains[1], v.domains[2])
}

// parseVersion reads the header; empty asks for nothing.
func parseVersion(text string) (v version, err error) {
	if text == "" {
		return v, nil
	}
	fields := strings.Split(text, "-")
	if len(fields) != 4 || fields[0] == "" {
		return v, badVersion()
	}
	v.lineage = fields[0]
	for i := range v.domains {
		if v.domains[i], err = strconv.ParseInt(fields[i+1], 10, 64); err != nil {
			return v, badVersion()
		}
	}
	return v, nil
}

func badVersion() error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueValue, VersionHeader+" is not one this server has given out")
}

// in reports whether snapshots hold it, as far as they tell: of an earlier lineage
// its own tells, see kept.
func (v version) in(held *[3]*label) bool {
	for i, l := range held {
		if l == nil || l.Lineage < v.lineage || l.Lineage == v.lineage && l.Version < v.domains[i] {
			return false
		}
	}
	return true
}

// before reports whether snapshots are of a later lineage.
func (v version) before(held *[3]*label) bool { return v.lineage != "" && held[0].Lineage > v.lineage }

// kept reports whether the lineages after its own began with it, or later.
func (v version) kept(beginnings []fhir.DomainState) bool {
	for i, domain := range fhir.Domains() {
		for _, began := range beginnings {
			if with, ok := began.Versions[domain]; ok && began.Lineage > v.lineage && with < v.domains[i] {
				return false
			}
		}
	}
	return true
}
