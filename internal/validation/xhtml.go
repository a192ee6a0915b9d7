package validation

import (
	"html"
	"strconv"
	"strings"
)

// What a narrative may hold: the basic formatting of HTML 4.0, chapters 7 to 11
// (but 9.4) and 15, links, images and style attributes (txt-1). Scripts, forms,
// frames, objects and event handlers are not among them.
var (
	narrativeElements = set(`a abbr acronym address area b basefont bdo big blockquote br caption center cite code col
		colgroup dd dfn div dl dt em font h1 h2 h3 h4 h5 h6 hr i img kbd li map ol p pre q s samp small span strike
		strong sub sup table tbody td tfoot th thead tr tt u ul var`)

	narrativeAttributes = set(`abbr accesskey align alt axis bgcolor border cellpadding cellspacing char charoff cite
		class clear color colspan compact coords dir face frame headers height href hreflang hspace id lang longdesc
		name nowrap noshade rel rev rowspan rules scope shape size span src start style summary tabindex target title
		type usemap valign value vspace width xml:lang xml:space xmlns`)

	// narrativeURLs are the attributes that have a URL.
	narrativeURLs = set(`cite href longdesc src usemap`)
)

func set(words string) map[string]bool {
	s := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		s[word] = true
	}
	return s
}

// isScript reports whether a URL is one that browsers run. They pass over white space
// and control characters in its scheme, and see through references to characters.
func isScript(url string) bool {
	scheme, _, ok := strings.Cut(html.UnescapeString(url), ":")
	scheme = strings.ToLower(strings.Map(func(r rune) rune {
		if r <= ' ' {
			return -1
		}
		return r
	}, scheme))
	return ok && (scheme == "javascript" || scheme == "vbscript")
}

// referencesAreRight reports whether every & of a text begins a reference to
// an entity of HTML or to a character.
func referencesAreRight(text string) bool {
	for {
		_, after, found := strings.Cut(text, "&")
		if !found {
			return true
		}
		name, after, ended := strings.Cut(after, ";")
		if !ended || !isReference(name) {
			return false
		}
		text = after
	}
}

func isReference(name string) bool {
	digits, numeric := strings.CutPrefix(name, "#")
	if !numeric {
		return name == "apos" || htmlEntities[name]
	}
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	code, err := strconv.ParseUint(digits, base, 32)
	switch {
	case err != nil, code > 0x10FFFF, code >= 0xD800 && code <= 0xDFFF, code == 0xFFFE, code == 0xFFFF:
		return false
	}
	return code >= ' ' || code == '\t' || code == '\n' || code == '\r'
}

// htmlEntities are the character entities of HTML 4.0
// (https://www.w3.org/TR/REC-html40/sgml/entities.html).
var htmlEntities = set(`quot amp lt gt OElig oelig Scaron scaron Yuml circ tilde ensp emsp thinsp zwnj zwj lrm rlm ndash
	mdash lsquo rsquo sbquo ldquo rdquo bdquo dagger Dagger permil lsaquo rsaquo euro
	nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro
	para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil
	Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave
	Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml
	igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute
	thorn yuml fnof Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho Sigma Tau
	Upsilon Phi Chi Psi Omega alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho
	sigmaf sigma tau upsilon phi chi psi omega thetasym upsih piv bull hellip prime Prime oline frasl weierp image real
	trade alefsym larr uarr rarr darr harr crarr lArr uArr rArr dArr hArr forall part exist empty nabla isin notin ni
	prod sum minus lowast radic prop infin ang and or cap cup int there4 sim cong asymp ne equiv le ge sub sup nsub sube
	supe oplus otimes perp sdot lceil rceil lfloor rfloor lang rang loz spades clubs hearts diams`)
