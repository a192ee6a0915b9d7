package postgres

import (
	"encoding/base64"
	"encoding/json"

	"starling/internal/fhir"
)

// Cursors are opaque to clients and hold all that an instance needs to go on:
// any instance serves any page, also after a restart.

func encodeCursor(cursor any) string {
	b, err := json.Marshal(cursor)
	if err != nil {
		panic(err) // cursors are structs of numbers and text
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func decodeCursor(text string, cursor any) error {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, cursor)
	}
	if err != nil {
		return damagedLink(err)
	}
	return nil
}

func damagedLink(cause error) *fhir.Error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "the page link is damaged").Because(cause)
}
