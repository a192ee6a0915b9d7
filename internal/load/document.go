package load

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"regexp"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/interaction"
)

// limits bound a file's document; a client's limit on bodies is not theirs.
var limits = element.Limits{Depth: element.DefaultLimits.Depth, Size: 1 << 30}

// requestOf gives the interaction that loads a document: a transaction or batch
// is carried out, a collection or searchset becomes a transaction that stores
// what it holds, and anything else is stored as it is.
func requestOf(text []byte) (*interaction.Request, error) {
	tree, err := element.Parse(text, limits)
	if err != nil {
		return nil, syntaxError(err)
	}
	root := tree.Root()
	if root.Get("resourceType").Str() == "Bundle" {
		switch kind := root.Get("type").Str(); kind {
		case "transaction", "batch":
			return &interaction.Request{Interaction: interaction.Batch, Body: text}, nil
		case "collection", "searchset":
			return transactionOf(root), nil
		case "history", "transaction-response", "batch-response":
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueNotSupported, "A Bundle of type "+kind+" cannot be loaded.")
		}
	}
	return store(root, text)
}

// store is the interaction that stores a resource: under its id, if it has one.
func store(root element.Node, text []byte) (*interaction.Request, error) {
	key := keyOf(root)
	if key.Type == "" {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, "This is no resource: it has no resourceType.")
	}
	request := &interaction.Request{Interaction: interaction.Create, Type: key.Type, Body: text}
	if key.ID != "" {
		request.Interaction, request.ID = interaction.Update, key.ID
	}
	return request, nil
}

func keyOf(root element.Node) fhir.Key {
	return fhir.Key{Type: fhir.ResourceType(root.Get("resourceType").Str()), ID: root.Get("id").Str()}
}

// transactionOf makes a transaction of a Bundle's resources, with their
// fullUrls, so that links between them are kept.
func transactionOf(bundle element.Node) *interaction.Request {
	t := newTransaction()
	for entry := range bundle.Get("entry").Children() {
		if resource := entry.Get("resource"); resource.Exists() {
			t.add(resource, entry.Get("fullUrl").Raw())
		}
	}
	return t.request()
}

// transaction writes a Bundle that stores resources.
type transaction struct {
	json    []byte
	entries int
}

func newTransaction() *transaction {
	return &transaction{json: []byte(`{"resourceType":"Bundle","type":"transaction","entry":[`)}
}

// add stores one more resource; fullURL is JSON, nil for none.
func (t *transaction) add(resource element.Node, fullURL []byte) {
	if t.entries++; t.entries > 1 {
		t.json = append(t.json, ',')
	}
	t.json = append(t.json, '{')
	if fullURL != nil {
		t.json = append(append(append(t.json, `"fullUrl":`...), fullURL...), ',')
	}
	t.json = append(append(t.json, `"resource":`...), resource.Raw()...)
	key := keyOf(resource)
	method, url := "POST", string(key.Type)
	if key.ID != "" {
		method, url = "PUT", key.String()
	}
	t.json = append(append(append(t.json, `,"request":{"method":"`...), method...), `","url":`...)
	t.json, _ = jsontext.AppendQuote(t.json, url) // it was parsed, so it is UTF-8
	t.json = append(t.json, "}}"...)
}

func (t *transaction) request() *interaction.Request {
	body := t.json
	if t.entries == 0 { // FHIR's JSON has no empty arrays
		body = []byte(`{"resourceType":"Bundle","type":"transaction"}`)
	} else {
		body = append(body, "]}"...)
	}
	return &interaction.Request{Interaction: interaction.Batch, Body: body}
}

func syntaxError(err error) error {
	var syntax *element.SyntaxError
	if errors.As(err, &syntax) {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, fmt.Sprintf("This is not JSON: %v.", syntax))
	}
	return err
}

// conditionalReference finds references by search, which a transaction resolves.
var conditionalReference = regexp.MustCompile(`"reference"\s*:\s*"[A-Za-z]+\?`)
