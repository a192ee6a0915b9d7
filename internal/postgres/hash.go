package postgres

import (
	"encoding/binary"

	"github.com/dchest/siphash"

	"starling/internal/fhir"
)

// termKind says what of a value a hash stands for.
type termKind byte

// The kinds. Those in rowKinds stand in search_key and find candidates; the
// others only filter them, in resource.terms.
const (
	termPresent    termKind = 'p' // the parameter has a value
	termCode       termKind = 'c' // token: the code, whatever its system
	termSystemCode termKind = 's' // token: system and code
	termSystem     termKind = 'y' // token: the system
	termFolded     termKind = 'C' // as termCode, for codes that ignore case
	termSysFolded  termKind = 'S' // as termSystemCode, likewise
	termID         termKind = 'i' // reference: the target's id, for locks of conditions
	termURL        termKind = 'u' // reference elsewhere, canonical, uri
	termIdentifier termKind = 'n' // reference: code of its identifier
	termSysIdent   termKind = 'N' // reference: system and code of its identifier
	termExact      termKind = 'e' // string: the exact text
	termPair       termKind = '2' // composite: two parts, each as its row has it
	termVersion    termKind = 'v' // reference or canonical: with its version
	termOfType     termKind = 'o' // identifier: a coding of its type, and the value
	termName       termKind = 'x' // token: a name, which a row of its code finds
	termNameAlone  termKind = 'X' // token: a name that no code goes with
	termText       termKind = 'z' // the words of the resource, all together
	termContains   termKind = '#' // that there is a contained resource
	termInner      termKind = '^' // reference: to a contained resource
	termPairExact  termKind = '=' // composite: two parts, one or both with their systems
)

func (k termKind) isRow() bool {
	switch k {
	case termCode, termFolded, termURL, termIdentifier, termPair, termNameAlone, termContains:
		return true
	}
	return false
}

// hasher computes the keyed hashes of one database.
type hasher struct{ k0, k1 uint64 }

func newHasher(key []byte) hasher {
	return hasher{binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:])}
}

// The lowest bits of a term.
const (
	rowBit       = 1 // it stands in search_key
	referenceBit = 2 // it is a reference to a resource; without rowBit a canonical with its version
)

// self hashes a resource's type and id, as resource.self has it.
func (h hasher) self(t fhir.ResourceType, id string) int64 {
	var buffer [128]byte
	sum := siphash.Hash(h.k0, h.k1, appendPart(appendPart(append(buffer[:0], 't'), string(t)), id))
	return int64(sum &^ (rowBit | referenceBit))
}

// link hashes a parameter by which resources of a type refer to others. The
// term of a reference is link XOR the target's self, so that SQL gets from a
// target to those that refer to it, and back.
func (h hasher) link(t fhir.ResourceType, param string) int64 {
	var buffer [96]byte
	sum := siphash.Hash(h.k0, h.k1, appendPart(appendPart(append(buffer[:0], 'l'), string(t)), param))
	return int64(sum | rowBit | referenceBit)
}

// reference is the term of a reference.
func (h hasher) reference(t fhir.ResourceType, param string, target fhir.ResourceType, id string) int64 {
	return h.link(t, param) ^ h.self(target, id)
}

// urlLink hashes a parameter whose values are URLs. The term of one is urlLink XOR
// the hash of the URL, so that SQL gets from a canonical resource to those that
// refer to it, and back.
func (h hasher) urlLink(t fhir.ResourceType, param string) int64 {
	return h.of('u', string(t), param) | rowBit
}

// canonicalLink hashes a parameter of references by canonical. Their terms are
// canonicalLink XOR the hash of URL and version, the version empty where any will
// do, with referenceBit and without rowBit. What is referred to has terms of
// itself, with no parameter and neither bit.
func (h hasher) canonicalLink(t fhir.ResourceType, param string) int64 {
	if param == "" {
		return h.of('k', string(t))
	}
	return h.of('k', string(t), param) | referenceBit
}

func (h hasher) canonical(t fhir.ResourceType, param, url, version string) int64 {
	return h.canonicalLink(t, param) ^ h.of('K', url, version)
}

// of hashes parts of a kind, with the lowest bits clear.
func (h hasher) of(kind byte, parts ...string) int64 {
	var buffer [256]byte
	b := append(buffer[:0], kind)
	for _, part := range parts {
		b = appendPart(b, part)
	}
	return int64(siphash.Hash(h.k0, h.k1, b) &^ (rowBit | referenceBit))
}

// term hashes a value of a parameter. Its lowest bit says whether the term
// stands in search_key.
func (h hasher) term(t fhir.ResourceType, param string, kind termKind, parts ...string) int64 {
	if kind == termURL {
		return h.urlLink(t, param) ^ h.of('w', parts[0])
	}
	var buffer [256]byte
	b := appendPart(buffer[:0], string(t))
	b = appendPart(b, param)
	b = append(b, byte(kind))
	for _, part := range parts {
		b = appendPart(b, part)
	}
	sum := siphash.Hash(h.k0, h.k1, b)
	if kind.isRow() {
		return int64(sum&^referenceBit | rowBit)
	}
	return int64(sum &^ (rowBit | referenceBit))
}

func isRowTerm(term int64) bool { return term&rowBit != 0 }

// param hashes a parameter, for the tables of ranges.
func (h hasher) param(t fhir.ResourceType, param string) int64 {
	var buffer [96]byte
	return int64(siphash.Hash(h.k0, h.k1, appendPart(appendPart(buffer[:0], string(t)), param)))
}

// unit hashes a unit of a quantity; 0 stands for none.
func (h hasher) unit(parts ...string) int64 {
	var buffer [128]byte
	b := buffer[:0]
	empty := true
	for _, part := range parts {
		empty = empty && part == ""
		b = appendPart(b, part)
	}
	if empty {
		return 0
	}
	return int64(siphash.Hash(h.k0, h.k1, b))
}

// appendPart keeps ("ab","c") and ("a","bc") apart.
func appendPart(dst []byte, part string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(part)))
	return append(dst, part...)
}
