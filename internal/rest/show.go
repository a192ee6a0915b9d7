package rest

import (
	"net/http"
	"strconv"

	"starling/internal/interaction"
)

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

// cacheVersion is the header that says which version of the caches a change has
// made, or must be known.
const cacheVersion = "X-Starling-Cache-Version"

// version writes the headers that name the version shown.
func (out *outgoing) version(response *interaction.Response) {
	switch {
	case response.ETag != "":
		out.set("Etag", response.ETag)
	case response.VersionID > 0:
		out.set("Etag", interaction.ETagOf(response.VersionID))
	}
	if response.CacheVersion != "" {
		out.set(cacheVersion, response.CacheVersion)
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
	return request.Base + "/" + string(r.Type) + "/" + r.ID + "/_history/" + strconv.FormatInt(r.VersionID, 10)
}
