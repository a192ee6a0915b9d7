package rest

import (
	"strings"

	"starling/internal/interaction"
)

// preferences reads the Prefer headers
// (https://www.rfc-editor.org/rfc/rfc7240, https://hl7.org/fhir/R4/http.html#ops).
// The first of two equal names counts; what is not understood is ignored. The
// return is empty where none was stated.
func preferences(headers []string) (interaction.Return, interaction.Handling, bool) {
	var returns interaction.Return
	var handling interaction.Handling
	async := false
	for _, header := range headers {
		for list := range elements(header, ',') {
			// FHIR's examples join preferences with semicolons, too.
			for preference := range elements(list, ';') {
				name, value, _ := strings.Cut(preference, "=")
				value = unquote(strings.TrimSpace(value))
				switch strings.ToLower(strings.TrimSpace(name)) {
				case "return":
					if returns == "" {
						returns = returnOf(value)
					}
				case "respond-async":
					async = true
				case "handling":
					if handling == "" {
						handling = handlingOf(value)
					}
				}
			}
		}
	}
	if handling == "" {
		handling = interaction.HandlingLenient
	}
	return returns, handling, async
}

func returnOf(value string) interaction.Return {
	for _, known := range []interaction.Return{
		interaction.ReturnMinimal, interaction.ReturnRepresentation, interaction.ReturnOperationOutcome,
	} {
		if strings.EqualFold(value, string(known)) {
			return known
		}
	}
	return ""
}

func handlingOf(value string) interaction.Handling {
	for _, known := range []interaction.Handling{interaction.HandlingStrict, interaction.HandlingLenient} {
		if strings.EqualFold(value, string(known)) {
			return known
		}
	}
	return ""
}
