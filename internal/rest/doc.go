// Package rest is the FHIR REST API over HTTP
// (https://hl7.org/fhir/R4/http.html): it turns a request into an
// interaction.Request, and its Response, or the error, into an answer.
// What an interaction means is package interaction's business; what is a
// header, a media type, an encoding or a status is decided here.
package rest
