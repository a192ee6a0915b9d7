package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// decode reads a resource, keeping the digits of its numbers.
func decode(t testing.TB, text []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var resource map[string]any
	if err := decoder.Decode(&resource); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return resource
}

// difference compares what was sent with what was read back, element by element,
// numbers with their digits. The server owns id, meta.versionId and
// meta.lastUpdated; id is compared too if sameID. It gives the first difference,
// "" if there is none.
func difference(sent, read map[string]any, sameID bool) string {
	sent, read = withoutServers(sent, sameID), withoutServers(read, sameID)
	return differ(fmt.Sprint(sent["resourceType"]), sent, read)
}

func withoutServers(resource map[string]any, keepID bool) map[string]any {
	own := map[string]any{}
	for name, value := range resource {
		if name == "id" && !keepID {
			continue
		}
		if meta, ok := value.(map[string]any); ok && name == "meta" {
			rest := map[string]any{}
			for name, value := range meta {
				if name != "versionId" && name != "lastUpdated" {
					rest[name] = value
				}
			}
			if len(rest) == 0 {
				continue
			}
			value = rest
		}
		own[name] = value
	}
	return own
}

func differ(path string, sent, read any) string {
	switch s := sent.(type) {
	case map[string]any:
		r, ok := read.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: sent an object, read %T", path, read)
		}
		for _, name := range sortedKeys(s) {
			if _, ok := r[name]; !ok {
				return fmt.Sprintf("%s.%s: sent, but not read back", path, name)
			}
			if d := differ(path+"."+name, s[name], r[name]); d != "" {
				return d
			}
		}
		for _, name := range sortedKeys(r) {
			if _, ok := s[name]; !ok {
				return fmt.Sprintf("%s.%s: read, but not sent", path, name)
			}
		}
	case []any:
		r, ok := read.([]any)
		if !ok || len(r) != len(s) {
			return fmt.Sprintf("%s: sent %d items, read %v", path, len(s), read)
		}
		for i := range s {
			if d := differ(fmt.Sprintf("%s[%d]", path, i), s[i], r[i]); d != "" {
				return d
			}
		}
	default: // string, json.Number, bool, nil
		if sent != read {
			return fmt.Sprintf("%s: sent %v, read %v", path, sent, read)
		}
	}
	return ""
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// rewrite replaces strings, and references within, that name an entry by the
// identity it was given.
func rewrite(value any, identities map[string]string) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = rewrite(v[name], identities)
		}
	case []any:
		for i := range v {
			v[i] = rewrite(v[i], identities)
		}
	case string:
		if identity, ok := identities[v]; ok {
			return identity
		}
	}
	return value
}

func TestDifferenceSeesDigitsAndOrder(t *testing.T) {
	resource := `{"resourceType":"X","id":"a","meta":{"versionId":"1","tag":[{"code":"t"}]},"v":[1.50,{"b":true}]}`
	for changed, want := range map[string]string{
		resource: "",
		strings.Replace(resource, `"versionId":"1"`, `"versionId":"9","lastUpdated":"x"`, 1): "",
		strings.Replace(resource, `"a"`, `"b"`, 1):                                           "",
		strings.Replace(resource, `1.50`, `1.5`, 1):                                          "X.v[0]",
		strings.Replace(resource, `true`, `false`, 1):                                        "X.v[1].b",
		strings.Replace(resource, `"code":"t"`, `"code":"t","x":1`, 1):                       "X.meta.tag[0].x",
		strings.Replace(resource, `,{"b":true}`, ``, 1):                                      "X.v",
	} {
		got := difference(decode(t, []byte(resource)), decode(t, []byte(changed)), false)
		if want == "" && got != "" || want != "" && !strings.HasPrefix(got, want+":") {
			t.Errorf("%s: difference %q, want at %q", changed, got, want)
		}
	}
}
