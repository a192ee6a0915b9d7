package fhirpath

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"strings"
)

// http://hl7.org/fhirpath/#additional-string-functions, of FHIRPath 2.1.
var encodingFunctions = map[string]function{
	"encode":   onString(encode, 1),
	"decode":   onString(decode, 1),
	"escape":   onString(escape, 1),
	"unescape": onString(unescape, 1),
}

func unknownFormat(format string) any { return fault(nowhere, "unknown format '%s'", format) }

func encode(s string, args []string) any {
	switch args[0] {
	case "hex":
		return hex.EncodeToString([]byte(s))
	case "base64":
		return base64.StdEncoding.EncodeToString([]byte(s))
	case "urlbase64":
		return base64.URLEncoding.EncodeToString([]byte(s))
	}
	return unknownFormat(args[0])
}

func decode(s string, args []string) any {
	var b []byte
	var err error
	switch args[0] {
	case "hex":
		b, err = hex.DecodeString(s)
	case "base64":
		b, err = base64.StdEncoding.DecodeString(s)
	case "urlbase64":
		b, err = base64.URLEncoding.DecodeString(s)
	default:
		return unknownFormat(args[0])
	}
	if err != nil {
		return fault(nowhere, "the text is not %s", args[0])
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

func escape(s string, args []string) any {
	switch args[0] {
	case "html":
		return htmlEscapes.Replace(s)
	case "json":
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			return fault(nowhere, "the text cannot be escaped")
		}
		quoted := strings.TrimSuffix(b.String(), "\n")
		return quoted[1 : len(quoted)-1]
	}
	return unknownFormat(args[0])
}

func unescape(s string, args []string) any {
	switch args[0] {
	case "html":
		return html.UnescapeString(s)
	case "json":
		var text string
		if json.Unmarshal([]byte(`"`+s+`"`), &text) != nil && json.Unmarshal([]byte(`"`+strings.ReplaceAll(s, `"`, `\"`)+`"`), &text) != nil {
			return fault(nowhere, "the text is not escaped as in JSON")
		}
		return text
	}
	return unknownFormat(args[0])
}
