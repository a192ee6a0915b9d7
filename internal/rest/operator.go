package rest

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"
)

// operators tells who is one.
type operators struct {
	all   bool     // whoever comes to this handler
	token [32]byte // its hash
	known bool     // there is a token
}

func operatorsOf(config *Config) operators {
	return operators{all: config.Operators, token: sha256.Sum256([]byte(config.OperatorToken)), known: config.OperatorToken != ""}
}

// sent reports whether a request comes from an operator: it carries the token
// (https://www.rfc-editor.org/rfc/rfc6750#section-2.1). How long the comparison
// takes tells nothing of the token.
func (o *operators) sent(in *incoming) bool {
	if o.all {
		return true
	}
	scheme, token, _ := strings.Cut(in.header("Authorization"), " ")
	if !o.known || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	hash := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(hash[:], o.token[:]) == 1
}
