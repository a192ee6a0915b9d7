// Package ucum knows the Unified Code for Units of Measure, case sensitive
// (https://ucum.org/ucum): it parses unit expressions such as "mm[Hg]",
// "10*3/uL" or "kg.m/s2", compares and converts them, and expresses quantities
// in base units, so that equal ones are found equal.
//
// Ordinary units have exact rational factors; no float is involved. Units of
// temperature (Cel, [degF], [degRe]) are exact too, with their zero. The other
// special units (pH, bel, neper, …) are functions, and converted with 14
// significant digits.
//
// An arbitrary unit, such as [iU], is comparable with itself alone. The mole is
// a number of things (6.02214076e23), as UCUM has it. Annotations ({RBC}) mean
// nothing.
package ucum
