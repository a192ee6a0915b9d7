package rest

import (
	"net/http"

	"starling/internal/interaction"
)

// vary lists the request headers that an answer depends on.
var vary = []string{"Accept, Accept-Encoding, Origin"}

// cacheControl lets the client alone keep an answer, and only if it asks again
// each time: without it, Last-Modified would let caches guess a lifetime.
var cacheControl = []string{"private, no-cache"}

// show writes a response.
func (out *outgoing) show(request *interaction.Request, response *interaction.Response, f format) {
	out.Status = int(response.Status)
	out.version(response)
	location := ""
	if response.Location != "" {
		location = request.Base + "/" + response.Location
		out.set("Location", location)
	}
	returns := request.Return
	if !writes(request.Interaction) {
		returns = interaction.ReturnRepresentation
	}
	switch {
	case response.Resource != nil && returns == interaction.ReturnMinimal:
	case response.Resource != nil && returns == interaction.ReturnOperationOutcome:
		out.set("Content-Type", f.ContentType)
		out.keep(interaction.AppendOutcome(out.scratch(), response.Issues))
	case response.Resource != nil:
		out.set("Content-Location", contentLocation(request, response, location))
		out.set("Content-Type", f.ContentType)
		out.keep(response.Resource.AppendJSON(out.scratch()))
	case len(response.Body) > 0:
		out.set("Content-Type", f.ContentType)
		out.Body = response.Body
	}
}

// writes reports whether the preference return applies
// (https://hl7.org/fhir/R4/http.html#ops).
func writes(name interaction.Name) bool {
	switch name {
	case interaction.Create, interaction.Update, interaction.ConditionalUpdate, interaction.Patch, interaction.ConditionalPatch:
		return true
	}
	return false
}

// version writes the headers that name the version shown, and how it may be
// cached.
func (out *outgoing) version(response *interaction.Response) {
	out.Header["Vary"], out.Header["Cache-Control"] = vary, cacheControl
	switch {
	case response.ETag != "":
		out.set("Etag", response.ETag)
	case response.VersionID > 0:
		out.set("Etag", interaction.ETagOf(response.VersionID))
	}
	if !response.LastUpdated.IsZero() {
		out.set("Last-Modified", response.LastUpdated.UTC().Format(http.TimeFormat))
	}
}

// contentLocation is the versioned URL of the resource shown.
func contentLocation(request *interaction.Request, response *interaction.Response, location string) string {
	if location != "" {
		return location
	}
	r := response.Resource
	etag := interaction.ETagOf(r.VersionID) // W/"3"
	return request.Base + "/" + string(r.Type) + "/" + r.ID + "/_history/" + etag[3:len(etag)-1]
}
