package postgres

// canonicals is how the resources of one type refer to those of another by
// canonical, seen from either end: the terms of both have the same URLs, under
// another parameter.
type canonicals struct {
	urls     int64 // a URL's term at one end XOR that at the other
	versions int64 // as urls, of URL and version
	// referred says that this end is the one referred to.
	referred bool
}

func (c *criterionCompiler) canonicals(source *criterionCompiler, param string, target *criterionCompiler) canonicals {
	return canonicals{
		urls:     c.hash.urlLink(source.typ, param) ^ c.hash.urlLink(target.typ, "url"),
		versions: c.hash.canonicalLink(source.typ, param) ^ c.hash.canonicalLink(target.typ, ""),
	}
}

// agree says that the rows here and there agree on URL and version.
func (c *criterionCompiler) agree(k canonicals, here, there string) string {
	source, target := here, there
	if k.referred {
		source, target = there, here
	}
	return source + `.terms && ARRAY (SELECT v.term # ` + c.sql.arg(k.versions) + ` FROM unnest(` + target + `.terms) v(term) WHERE v.term & 3 = 0)`
}

// byCanonical holds for the resources at this end that are bound by canonical to
// a resource at the other that meets a criterion.
func (c *criterionCompiler) byCanonical(k canonicals, other *criterionCompiler, inner compiled) compiled {
	walk := func() string { return `k.hash = u.term # ` + c.sql.arg(k.urls) }
	one := compiled{joined: true, slow: true, test: func() string {
		return `EXISTS (SELECT FROM (SELECT r.terms OFFSET 0) o CROSS JOIN LATERAL unnest(o.terms) u(term) CROSS JOIN LATERAL (SELECT FROM search_key k` +
			` CROSS JOIN LATERAL (SELECT * FROM resource s WHERE s.rid = k.rid OFFSET 0) r WHERE ` + walk() + ` AND ` + other.isCurrent(`r`) +
			` AND ` + c.agree(k, `o`, `r`) + ` AND ` + inner.test() + ` OFFSET 0) t WHERE u.term & 3 = 1)`
	}}
	if inner.set != nil {
		one.exact = true
		one.set = func() string {
			return `SELECT k.rid FROM (SELECT r.terms` + other.found(&inner) + ` OFFSET 0) o CROSS JOIN LATERAL unnest(o.terms) u(term)` +
				` CROSS JOIN LATERAL (SELECT k.rid FROM search_key k WHERE ` + walk() + ` OFFSET 0) k` +
				` CROSS JOIN LATERAL (SELECT * FROM resource s WHERE s.rid = k.rid OFFSET 0) t WHERE u.term & 3 = 1 AND ` +
				c.isCurrent(`t`) + ` AND ` + c.agree(k, `t`, `o`)
		}
	}
	return one
}
