package postgres

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/dchest/siphash"

	"starling/internal/fhir"
)

// signatureSize is the length of a cursor's signature.
const signatureSize = 8

var errSignature = errors.New("postgres: a cursor's signature is wrong")

// Cursors are opaque to clients and hold all that an instance needs to go on:
// any instance serves any page, also after a restart.

// encodeCursor signs a cursor together with what it belongs to, with the
// database's own key: any instance can check it.
func (h hasher) encodeCursor(of []byte, cursor any) string {
	b, err := json.Marshal(cursor)
	if err != nil {
		panic(err) // cursors are structs of numbers and text
	}
	b = binary.BigEndian.AppendUint64(b, h.signature(of, b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor reads a cursor that encodeCursor made for the same.
func (h hasher) decodeCursor(of []byte, text string, cursor any) error {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return damagedLink(err)
	}
	if len(b) < signatureSize {
		return damagedLink(errSignature)
	}
	b, signature := b[:len(b)-signatureSize], b[len(b)-signatureSize:]
	if binary.BigEndian.Uint64(signature) != h.signature(of, b) {
		return damagedLink(errSignature)
	}
	if err := json.Unmarshal(b, cursor); err != nil {
		return damagedLink(err)
	}
	return nil
}

// signature is a keyed hash of a cursor and what it belongs to. What it begins with
// keeps it apart from the hashes of terms, which begin with a short length.
func (h hasher) signature(of, cursor []byte) uint64 {
	b := append([]byte{0xff, 0xff}, "cursor"...)
	b = append(append(b, of...), 0)
	return siphash.Hash(h.k0, h.k1, append(b, cursor...))
}

func damagedLink(cause error) *fhir.Error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "the page link is damaged").Because(cause)
}
