package interaction

import "encoding/base64"

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
