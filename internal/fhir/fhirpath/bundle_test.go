package fhirpath

import "testing"

const testBundle = `{"resourceType":"Bundle","type":"collection","entry":[
 {"fullUrl":"http://example.org/fhir/Observation/o1","resource":{"resourceType":"Observation","id":"o1",
  "contained":[{"resourceType":"Device","id":"d","modelNumber":"7"}],
  "subject":{"reference":"Patient/p1"},"device":{"reference":"#d"},"encounter":{"reference":"urn:uuid:e"},
  "performer":[{"reference":"Patient/p1/_history/2"},{"reference":"Patient/p1/_history/3"},{"reference":"http://other.org/Patient/p1"},{"reference":"#"}]}},
 {"fullUrl":"http://other.org/Patient/p1","resource":{"resourceType":"Patient","id":"p1","gender":"male"}},
 {"resource":{"resourceType":"Basic","id":"nowhere","subject":{"reference":"Patient/p1"}}},
 {"fullUrl":"http://example.org/fhir/Patient/p1","resource":{"resourceType":"Patient","id":"p1","meta":{"versionId":"2"},"gender":"female","generalPractitioner":[{"reference":"Practitioner/none"}]}},
 {"fullUrl":"urn:uuid:e","resource":{"resourceType":"Encounter","id":"e","status":"finished","subject":{"reference":"Patient/p1"}}}]}`

func TestResolveInBundle(t *testing.T) {
	check(t, testItem(t, testBundle), [][2]string{
		{"entry[0].resource.subject.resolve().gender", "code female"},
		{"entry[0].resource.subject.reference.resolve().gender", "code female"},
		{"entry[0].resource.device.resolve().modelNumber", "string 7"},
		{"entry[0].resource.encounter.resolve().status", "code finished"},
		{"entry[0].resource.performer[0].resolve().gender", "code female"},
		{"entry[0].resource.performer[1].resolve().gender", ""},
		{"entry[0].resource.performer[1].resolve() is Patient", "System.Boolean true"},
		{"entry[0].resource.performer[2].resolve().gender", "code male"},
		{"entry[0].resource.performer[3].resolve().id", "id o1"},
		{"entry[2].resource.subject.resolve().gender", ""},
		{"entry[3].resource.generalPractitioner.resolve().id", ""},
		{"entry[4].resource.subject.resolve().gender", ""},
		{"'urn:uuid:e'.resolve().status", "code finished"},
		{"'Patient/p1'.resolve().gender", ""},
		{"entry.resource.ofType(Observation).subject.resolve().exists()", "System.Boolean true"},
	})
}
