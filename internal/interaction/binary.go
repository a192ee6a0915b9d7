package interaction

import (
	"encoding/base64"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// binaryJSON is the FHIR Binary that raw content stands for
// (https://hl7.org/fhir/R4/binary.html#rest).
func binaryJSON(request *Request) []byte {
	dst := make([]byte, 0, 200+base64.StdEncoding.EncodedLen(len(request.Body)))
	dst = append(dst, `{"resourceType":"Binary"`...)
	if request.Interaction == Update {
		dst = appendString(append(dst, `,"id":`...), request.ID)
	}
	dst = appendString(append(dst, `,"contentType":`...), request.ContentType)
	if request.SecurityContext != "" {
		dst = append(appendString(append(dst, `,"securityContext":{"reference":`...), request.SecurityContext), '}')
	}
	if len(request.Body) > 0 {
		dst = base64.StdEncoding.AppendEncode(append(dst, `,"data":"`...), request.Body)
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

// BinaryContent takes the raw content out of a Binary, with its type.
func BinaryContent(binary *fhir.Resource) (contentType string, content []byte, err error) {
	tree, err := element.Parse(binary.AppendJSON(nil), element.Limits{Depth: 1 << 20, Size: 1 << 30})
	if err != nil {
		return "", nil, err
	}
	data := tree.Root().Get("data").Str()
	if strings.ContainsAny(data, " \t\r\n") {
		data = strings.Join(strings.Fields(data), "")
	}
	content, err = base64.StdEncoding.DecodeString(data)
	return tree.Root().Get("contentType").Str(), content, err
}
