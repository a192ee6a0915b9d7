package fhirpath

import (
	"regexp"
	"strings"
)

// difference is a known difference, and which side is right by the
// specification.
type difference struct {
	name string
	// right is "here", "the package" or "either" where the specification leaves
	// it open.
	right, reason string
	// seenIn is the set of questions that has to show it.
	seenIn     string
	expression string // a pattern that the expression matches
	// here and peer are patterns of what each answers; "" for anything.
	here, peer string
}

// The sets of questions.
const (
	published = "published"
	random    = "random"
)

func (d *difference) String() string { return d.name + ": " + d.reason + "; right is " + d.right }

// differences are tried in this order.
var differences = []difference{
	{
		name: "resolve", seenIn: published, right: "here", expression: `resolve\(`, peer: `^refused: The asynchronous function`,
		reason: "the package resolves only where it may wait for a server; here contained resources and types are found without one",
	},
	{
		name: "as of several", seenIn: published, right: "either", expression: `as\((canonical|uri|url)\)`, peer: `^refused: Expected singleton on left side of 'as'`,
		reason: "FHIRPath has as() take one item; R4's dom-3 applies it to many and would never hold, so it filters here",
	},
	{
		name: "small decimals", seenIn: published, right: "here", expression: `component`, here: `1e-245|0000`, peer: `1e-22`,
		reason: "the package takes decimals that differ by less than 1e-8 for equal, and drops zeros at the end; they are exact",
	},
	{
		name: "comparators", seenIn: published, right: "here", expression: `\|`, here: `"comparator"`, peer: `^refused: Cannot convert a FHIR.Quantity that has a comparator`,
		reason: "a union compares elements, which needs no conversion to a System.Quantity",
	},
	{
		name: "quantity without a code", seenIn: published, right: "either", expression: `Quantity\) > 1 'mg'`, here: `^\[\]`, peer: `^refused: InequalityExpression`,
		reason: "a FHIR Quantity whose unit is no UCUM is no System.Quantity to the package; here it is one that compares with none",
	},
	{
		name: "booleans in order", seenIn: random, right: "here", here: `System.Boolean and System.Boolean cannot be compared`, peer: `^\[`,
		reason: "Boolean has no order (6.2)",
	},
	{
		name: "operand not looked at here", seenIn: random, right: "either", here: `^\[[^,{]*\]$`,
		peer:   `^refused: (Expected (number|string|a number)|InequalityExpression|Negation|Cannot convert (true|false) to Decimal|Unexpected collection|Singleton was expected|anyFalse)`,
		reason: "one operand is empty or decides, and the error in the other is not come upon: the specification leaves the order open (6.5)",
	},
	{
		name: "operand not looked at by the package", seenIn: random, right: "either", here: `^refused: .*one value is needed here`, peer: `^\[(true|false)?\]`,
		reason: "the other operand is empty, or the type asked for is not one that the items could have",
	},
	{
		name: "dates as strings", seenIn: random, right: "here", here: `^refused: .*a String is needed here, not (dateTime|instant|date|time)`, peer: `^\[`,
		reason: "R4's date, dateTime, instant and time convert to Date, DateTime and Time, which no string function takes (5.6)",
	},
	{
		name: "units without a conversion", seenIn: random, right: "either", here: `no known unit|have no common unit`, peer: `^\[\]`,
		reason: "the specification says that units have to fit (6.6), not whether it is an error or empty if they do not",
	},
	{
		name: "operands of the wrong type", seenIn: random, right: "here", here: `^refused: .*[*/] does not take`, peer: `^\[`,
		reason: "an operator on types that it has not is an error (6.6)",
	},
	{
		name: "objects as text", seenIn: random, right: "here", expression: `toString\(\)`, here: `^\[\]`, peer: `\[object Object\]`,
		reason: "toString() of what is no primitive is empty (5.5)",
	},
	{
		name: "type of id", seenIn: random, right: "either", expression: `\bid\b.*System\.String`, here: `^\[(true|false)\]`, peer: `^\[(true|false)\]`,
		reason: "R4 types Resource.id as System.String, with the FHIR type beside it in an extension, which is the one taken here",
	},
	{
		name: "xhtml has a value", seenIn: random, right: "here", expression: `hasValue\(\)`, here: `^\[true\]`, peer: `^\[false\]`,
		reason: "xhtml is a primitive type (R4, datatypes)",
	},
	{
		name: "value of a number", seenIn: random, right: "here", expression: `count\(\)\.all\(value\.empty\(\)\)`, here: `^\[true\]`, peer: `^\[false\]`,
		reason: "an Integer has no member value; the package gives the number itself",
	},
}

func differenceOf(q question, here, peer answer) *difference {
	for i := range differences {
		d := &differences[i]
		if matches(d.expression, q.expression) && matches(d.here, here.String()) && matches(d.peer, peer.String()) {
			return d
		}
	}
	return nil
}

func matches(pattern, text string) bool {
	return pattern == "" || regexp.MustCompile(pattern).MatchString(strings.ReplaceAll(text, "\n", " "))
}
