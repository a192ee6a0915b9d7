package postgres

// rows gathers the parameters of a batch's statements, column by column.
type rows struct {
	insert, update resourceRows
	version        versionRows
	addKeys        keyRows
	dropKeys       keyRows
	add, drop      rangeRows
	words          wordRows
}

type resourceRows struct {
	rid, self []int64
	typ       []int16
	id        []string
	version   []int32
	updated   []int64
	deleted   []bool
	terms     []int64 // of all rows, one after the other
	low, high []int32 // a row's part of terms, from 1, inclusive
	ranges    [][]byte
}

func (r *resourceRows) add(it *item) {
	r.rid = append(r.rid, it.rid)
	r.self = append(r.self, it.self)
	r.typ = append(r.typ, it.typ)
	r.id = append(r.id, it.write.ID)
	r.version = append(r.version, int32(it.result.VersionID))
	r.updated = append(r.updated, it.updated)
	r.deleted = append(r.deleted, it.isDelete())
	r.low = append(r.low, int32(len(r.terms)+1))
	r.terms = append(r.terms, it.entries.terms...)
	r.high = append(r.high, int32(len(r.terms)))
	r.ranges = append(r.ranges, it.ranges)
}

type versionRows struct {
	rid        []int64
	typ        []int16
	version    []int32
	updated    []int64
	method     []int16
	meta, body [][]byte
}

func (r *versionRows) add(it *item) {
	r.rid = append(r.rid, it.rid)
	r.typ = append(r.typ, it.typ)
	r.version = append(r.version, int32(it.result.VersionID))
	r.updated = append(r.updated, it.updated)
	r.method = append(r.method, int16(it.write.Method))
	r.meta = append(r.meta, it.write.Meta)
	r.body = append(r.body, it.write.Body)
}

type keyRows struct{ hash, rid []int64 }

func (r *keyRows) add(rid int64, terms []int64) {
	for _, term := range terms {
		r.hash = append(r.hash, term)
		r.rid = append(r.rid, rid)
	}
}

type rangeRows struct {
	dates struct{ rid, param, low, high []int64 }
	num   struct {
		rid, param, unit, code, text []int64
		low, high                    []string
	}
	texts struct {
		rid, param []int64
		value      []string
	}
}

func (r *rangeRows) append(rid int64, set rangeSet) {
	for _, d := range set.dates {
		r.dates.rid = append(r.dates.rid, rid)
		r.dates.param = append(r.dates.param, d.param)
		r.dates.low = append(r.dates.low, d.low)
		r.dates.high = append(r.dates.high, d.high)
	}
	for _, n := range set.numbers {
		r.num.rid = append(r.num.rid, rid)
		r.num.param = append(r.num.param, n.param)
		r.num.unit = append(r.num.unit, n.unit)
		r.num.code = append(r.num.code, n.code)
		r.num.text = append(r.num.text, n.text)
		r.num.low = append(r.num.low, n.low)
		r.num.high = append(r.num.high, n.high)
	}
	for _, t := range set.texts {
		r.texts.rid = append(r.texts.rid, rid)
		r.texts.param = append(r.texts.param, t.param)
		r.texts.value = append(r.texts.value, t.value)
	}
}

// addItem adds all rows of a decided item but that of a claimed resource.
func (r *rows) addItem(it *item) {
	switch {
	case !it.isNew:
		r.update.add(it)
	case !it.claims():
		r.insert.add(it)
	}
	r.version.add(it)
	r.addEntries(it)
}

// addEntries adds what changed in what the item is found by.
func (r *rows) addEntries(it *item) {
	removed, added := diffTerms(it.before.terms, it.entries.terms)
	r.dropKeys.add(it.rid, removed)
	r.addKeys.add(it.rid, added)
	before, now := it.before.ranges, it.entries.ranges
	var gone, fresh rangeSet
	gone.dates, fresh.dates = diffRows(before.dates, now.dates, compareDates)
	gone.numbers, fresh.numbers = diffRows(before.numbers, now.numbers, compareNumbers)
	gone.texts, fresh.texts = diffRows(before.texts, now.texts, compareTexts)
	r.drop.append(it.rid, gone)
	if !it.keepWords {
		r.words.change(it)
	}
	r.add.append(it.rid, fresh)
}

// send queues the statements that have rows.
func (r *rows) send(p *pipeline) {
	if u := &r.insert; len(u.rid) > 0 {
		p.send(stmtInsert, nil, u.insertParams()...)
	}
	if u := &r.update; len(u.rid) > 0 {
		p.send(stmtUpdate, nil, int8Array(u.rid), int4Array(u.version), timeArray(u.updated), boolArray(u.deleted),
			int8Array(u.terms), int4Array(u.low), int4Array(u.high), byteaArray(u.ranges))
	}
	if v := &r.version; len(v.rid) > 0 {
		p.send(stmtVersion, nil, int8Array(v.rid), int2Array(v.typ), int4Array(v.version), timeArray(v.updated),
			int2Array(v.method), textArray(v.meta), textArray(v.body))
	}
	if k := &r.dropKeys; len(k.rid) > 0 {
		p.send(stmtDropKeys, nil, int8Array(k.hash), int8Array(k.rid))
	}
	if k := &r.addKeys; len(k.rid) > 0 {
		p.send(stmtAddKeys, nil, int8Array(k.hash), int8Array(k.rid))
	}
	r.words.send(p)
	r.drop.send(p, stmtDropDates, stmtDropNumber, stmtDropTexts)
	r.add.send(p, stmtAddDates, stmtAddNumbers, stmtAddTexts)
}

func (r *resourceRows) insertParams() [][]byte {
	return [][]byte{
		int8Array(r.rid), int2Array(r.typ), textArray(r.id), int8Array(r.terms),
		int4Array(r.low), int4Array(r.high), byteaArray(r.ranges), int8Array(r.self),
	}
}

func (r *rangeRows) send(p *pipeline, dates, numbers, texts string) {
	if d := &r.dates; len(d.rid) > 0 {
		p.send(dates, nil, int8Array(d.rid), int8Array(d.param), timeArray(d.low), timeArray(d.high))
	}
	if n := &r.num; len(n.rid) > 0 {
		p.send(numbers, nil, int8Array(n.rid), int8Array(n.param), int8Array(n.unit), int8Array(n.code), int8Array(n.text),
			textArray(n.low), textArray(n.high))
	}
	if t := &r.texts; len(t.rid) > 0 {
		p.send(texts, nil, int8Array(t.rid), int8Array(t.param), textArray(t.value))
	}
}
