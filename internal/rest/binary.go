package rest

import (
	"encoding/base64"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/interaction"
)

// typeUnknown is the Content-Type of a Binary whose own cannot be sent.
const typeUnknown = "application/octet-stream"

// rawSandbox keeps a browser from running what a client stored.
const rawSandbox = "sandbox; default-src 'none'"

// readsRaw reports whether the answer is the content of a Binary itself, which
// it is unless a FHIR format was asked for
// (https://hl7.org/fhir/R4/binary.html#rest).
func readsRaw(request *interaction.Request, f format) bool {
	return request.Type == "Binary" && !f.FHIR &&
		(request.Interaction == interaction.Read || request.Interaction == interaction.VRead)
}

// raw writes the content of a Binary.
func (out *outgoing) raw(request *interaction.Request, response *interaction.Response) error {
	text := response.Resource.AppendJSON(nil)
	// What was stored may have come under another limit.
	tree, err := element.Parse(text, element.Limits{Depth: element.DefaultLimits.Depth, Size: len(text)})
	if err != nil {
		return err
	}
	content, err := base64.StdEncoding.DecodeString(withoutSpace(tree.Root().Get("data").Str()))
	if err != nil {
		return fhir.NewError(fhir.KindInternal, fhir.IssueException,
			"The content of this Binary is not valid base64; ask for application/fhir+json to see it.").Because(err)
	}
	out.Status = int(response.Status)
	out.version(response)
	out.set("Content-Location", contentLocation(request, response, ""))
	out.set("Content-Type", sendable(tree.Root().Get("contentType").Str()))
	out.set("X-Content-Type-Options", "nosniff")
	out.set("Content-Security-Policy", rawSandbox)
	if reference := tree.Root().Get("securityContext").Get("reference").Str(); isHeaderValue(reference) {
		out.set("X-Security-Context", reference)
	}
	out.Body = content
	return nil
}

// withoutSpace removes the white space base64Binary may contain.
func withoutSpace(data string) string {
	if !strings.ContainsAny(data, " \t\r\n") {
		return data
	}
	return strings.Join(strings.Fields(data), "")
}

// sendable gives a content type as it may stand in a header.
func sendable(contentType string) string {
	if _, ok := parseMediaRange(contentType); !ok || !isHeaderValue(contentType) {
		return typeUnknown
	}
	return contentType
}

func isHeaderValue(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return text != ""
}
