package main

import "strings"

// compact reduces a published definition to what a server uses; nil for one it
// does not use. It is applied to a definition once and changes it.
func compact(d object) object {
	switch text(d["resourceType"]) {
	case "StructureDefinition":
		return compactStructure(d)
	case "SearchParameter":
		keep(d, "name", "description", "code", "base", "type", "expression", "target", "multipleOr",
			"multipleAnd", "comparator", "modifier", "chain", "component", "derivedFrom")
	case "OperationDefinition":
		keep(d, "name", "title", "description", "kind", "affectsState", "code", "base", "resource", "system", "type",
			"instance", "inputProfile", "outputProfile", "parameter", "overload")
		each(d["parameter"], compactParameter)
	case "CompartmentDefinition":
		keep(d, "name", "code", "search", "resource")
		each(d["resource"], func(r object) { delete(r, "documentation") })
	case "CodeSystem":
		keep(d, "name", "title", "copyright", "caseSensitive", "valueSet", "hierarchyMeaning", "compositional",
			"versionNeeded", "content", "supplements", "filter", "property", "concept")
		each(d["property"], func(p object) { delete(p, "description") })
		each(d["filter"], func(p object) { delete(p, "description") })
		each(d["concept"], compactConcept)
	case "ValueSet":
		keep(d, "name", "title", "copyright", "immutable", "compose", "expansion")
		compactValueSet(d)
	case "ConceptMap":
		keep(d, "name", "title", "copyright", "sourceUri", "sourceCanonical", "targetUri", "targetCanonical", "group")
	default:
		return nil
	}
	return d
}

// keep removes the members of d that are not named; those every definition has
// need no naming.
func keep(d object, names ...string) {
	for name := range d {
		switch name {
		case "resourceType", "id", "url", "version", "status":
			continue
		}
		wanted := false
		for _, n := range names {
			wanted = wanted || n == name
		}
		if !wanted {
			delete(d, name)
		}
	}
}

func each(v any, f func(object)) {
	for _, item := range list(v) {
		f(item.(object))
	}
}

func compactParameter(p object) {
	delete(p, "documentation")
	if b, ok := p["binding"].(object); ok {
		delete(b, "extension")
	}
	each(p["part"], compactParameter)
}

func compactConcept(c object) {
	delete(c, "definition")
	delete(c, "extension")
	each(c["designation"], func(d object) { delete(d, "extension") })
	each(c["concept"], compactConcept)
}

// compactValueSet keeps an expansion only where nothing else tells the content.
func compactValueSet(d object) {
	compose, ok := d["compose"].(object)
	if ok {
		delete(d, "expansion")
	}
	for _, part := range []string{"include", "exclude"} {
		each(compose[part], func(i object) {
			delete(i, "extension")
			each(i["concept"], func(c object) { delete(c, "extension") })
		})
	}
	if e, ok := d["expansion"].(object); ok {
		delete(e, "identifier")
		delete(e, "timestamp")
	}
}

const structureBase = "http://hl7.org/fhir/StructureDefinition/"

// keptExtensions carry rules; the others are notes of the publishers.
var keptExtensions = map[string]bool{
	structureBase + "regex":                          true,
	structureBase + "structuredefinition-fhir-type":  true,
	structureBase + "elementdefinition-maxValueSet":  true,
	structureBase + "elementdefinition-minValueSet":  true,
	structureBase + "elementdefinition-bestpractice": true,
}

func compactExtensions(o object) {
	var kept []any
	each(o["extension"], func(e object) {
		if keptExtensions[text(e["url"])] {
			kept = append(kept, e)
		}
	})
	delete(o, "extension")
	if kept != nil {
		o["extension"] = kept
	}
}

func compactStructure(d object) object {
	keep(d, "name", "title", "kind", "abstract", "context", "contextInvariant", "type", "baseDefinition", "derivation",
		"snapshot")
	snapshot, _ := d["snapshot"].(object)
	for i, e := range list(snapshot["element"]) {
		compactElement(e.(object), i == 0)
	}
	return d
}

// compactElement drops prose and what an absent member says as well: false
// flags, an id equal to the path, a base equal to the element itself, and the
// constraints ele-1 and ext-1 that every element has from its type.
func compactElement(e object, root bool) {
	for name := range e {
		switch name {
		case "short", "definition", "comment", "requirements", "alias", "mapping", "meaningWhenMissing", "orderMeaning",
			"isModifierReason", "example", "label", "code":
			delete(e, name)
		case "isModifier", "isSummary", "mustSupport", "sliceIsConstraining":
			if e[name] == false {
				delete(e, name)
			}
		}
	}
	if e["id"] == e["path"] {
		delete(e, "id")
	}
	if b, ok := e["base"].(object); ok && b["path"] == e["path"] && b["min"] == e["min"] && b["max"] == e["max"] {
		delete(e, "base")
	}
	compactExtensions(e)
	each(e["type"], compactExtensions)
	if s, ok := e["slicing"].(object); ok {
		delete(s, "description")
	}
	if b, ok := e["binding"].(object); ok {
		compactExtensions(b)
		delete(b, "description")
	}
	compactConstraints(e, root)
}

func compactConstraints(e object, root bool) {
	var kept []any
	each(e["constraint"], func(c object) {
		delete(c, "xpath")
		delete(c, "requirements")
		compactExtensions(c)
		key := text(c["key"])
		inherited := strings.HasPrefix(text(c["source"]), structureBase)
		if !root && inherited && (key == "ele-1" || key == "ext-1") {
			return
		}
		kept = append(kept, c)
	})
	delete(e, "constraint")
	if kept != nil {
		e["constraint"] = kept
	}
}
