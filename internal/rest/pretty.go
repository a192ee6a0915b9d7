package rest

import (
	"bytes"
	"encoding/json"
)

// indented gives the JSON with line breaks and indentation. Numbers and strings
// keep their text. What is no JSON is given back as it is.
func indented(body []byte) []byte {
	var buffer bytes.Buffer
	if err := json.Indent(&buffer, body, "", "  "); err != nil {
		return body
	}
	buffer.WriteByte('\n')
	return buffer.Bytes()
}
