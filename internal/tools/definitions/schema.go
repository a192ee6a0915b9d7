package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"starling/internal/fhir/definition"
)

// schemaFile is the JSON Schema among the files of the package.
const schemaFile = "fhir.schema.json"

// buildSchema gives the text of the embedded JSON Schema: after a header one
// definition a line, {"name", "schema"}, sorted by name, of those that R4's
// resource types need, without what its packager added. References name other definitions. Inside a
// resource any resource may stand; whoever validates does that by its type.
func buildSchema(source string, registry *definition.Registry) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(source, schemaFile))
	if err != nil {
		return nil, err
	}
	whole, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", schemaFile, err)
	}
	all, _ := whole["definitions"].(object)
	all["ResourceList"] = object{"type": "object", "required": []any{"resourceType"}, "properties": object{"resourceType": object{"type": "string"}}}
	strip(all, registry)
	needed := map[string]object{}
	var queue []string
	for _, t := range registry.ResourceTypes() {
		queue = append(queue, string(t))
	}
	for ; len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if needed[name] != nil {
			continue
		}
		schema, ok := all[name].(object)
		if !ok {
			return nil, fmt.Errorf("%s: there is no definition %s", schemaFile, name)
		}
		needed[name] = schema
		queue = append(queue, bare(schema)...)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(object{"source": sourcePackage, "file": schemaFile, "version": fhirVersion}); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if err := enc.Encode(object{"name": name, "schema": needed[name]}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// bare takes the prose out of a schema, makes its references names, and lists
// them.
func bare(schema object) (refs []string) {
	if _, prose := schema["description"].(string); prose {
		delete(schema, "description")
	}
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/definitions/")
		schema["$ref"] = name
		refs = append(refs, name)
	}
	for _, v := range schema {
		switch v := v.(type) {
		case object:
			refs = append(refs, bare(v)...)
		case []any:
			for _, e := range v {
				if e, ok := e.(object); ok {
					refs = append(refs, bare(e)...)
				}
			}
		}
	}
	slices.Sort(refs)
	return slices.Compact(refs)
}

// strip removes the members that the registry's types do not have.
func strip(schemas object, registry *definition.Registry) {
	var walk func(name string, element *definition.Element)
	walk = func(name string, element *definition.Element) {
		schema, _ := schemas[name].(object)
		members, _ := schema["properties"].(object)
		for member := range members {
			if _, known := element.Property(member); !known && member != "resourceType" {
				delete(members, member)
			}
		}
		for _, child := range element.Children {
			if len(child.Children) > 0 && child.Content == nil {
				walk(name+"_"+strings.ToUpper(child.Name[:1])+child.Name[1:], child)
			}
		}
	}
	for name := range schemas {
		if t := registry.Type(name); t != nil {
			walk(name, t.Root)
		}
	}
}
