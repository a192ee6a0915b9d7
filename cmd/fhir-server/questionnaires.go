package main

import (
	"context"
	"net/url"
	"strings"
	"time"

	"starling/internal/fhir/element"
	"starling/internal/interaction"
)

// stored finds resources by their canonical.
type stored struct{ service *interaction.Service }

// finding bounds the time it takes.
const finding = 5 * time.Second

// questionnaire is the Questionnaire of a canonical, in the version that this
// names or the one stored last. One that cannot be had is not there: responses
// to it are stored unchecked.
func (s stored) questionnaire(canonical string) (element.Node, bool) {
	canonical, _, _ = strings.Cut(canonical, "#")
	address, version, versioned := strings.Cut(canonical, "|")
	query := url.Values{"url": {address}, "_sort": {"-_lastUpdated"}, "_count": {"1"}, "_total": {"none"}}
	if versioned {
		// A bar or a comma would be no part of the code.
		query.Set("version", strings.NewReplacer(`\`, `\\`, `|`, `\|`, `,`, `\,`).Replace(version))
	}
	query.Set("url", strings.NewReplacer(`\`, `\\`, `,`, `\,`).Replace(address))
	ctx, cancel := context.WithTimeout(context.Background(), finding)
	defer cancel()
	answer, err := s.service.Serve(ctx, &interaction.Request{
		Interaction: interaction.SearchType, Type: "Questionnaire", Query: query, RawQuery: query.Encode(),
	})
	if err != nil {
		return element.Node{}, false
	}
	bundle, err := element.Parse(answer.Body, element.StoredLimits)
	if err != nil {
		return element.Node{}, false
	}
	found := bundle.Root().Get("entry").At(0).Get("resource")
	return found, found.Exists()
}
