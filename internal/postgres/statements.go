package postgres

// The statements of the hot paths, prepared on every connection under these
// names. Parameters are arrays, one element a row, in binary form.
const (
	stmtBegin        = "begin"
	stmtCommit       = "commit"
	stmtNow          = "now"
	stmtRead         = "read"
	stmtReadVer      = "read_version"
	stmtLock         = "lock"
	stmtInsert       = "insert_resource"
	stmtClaim        = "claim_resource"
	stmtUpdate       = "update_resource"
	stmtVersion      = "insert_version"
	stmtAmend        = "amend_version"
	stmtAddKeys      = "add_keys"
	stmtDropKeys     = "drop_keys"
	stmtAddDates     = "add_dates"
	stmtDropDates    = "drop_dates"
	stmtAddNumbers   = "add_numbers"
	stmtDropNumber   = "drop_numbers"
	stmtAddTexts     = "add_texts"
	stmtDropTexts    = "drop_texts"
	stmtAddNames     = "add_names"
	stmtAddWords     = "add_words"
	stmtSetWords     = "set_words"
	stmtDropWords    = "drop_words"
	stmtNowFenced    = "now_fenced"
	stmtNowChanging  = "now_changing"
	stmtNowBoth      = "now_both"
	stmtCheckBasis   = "check_basis"
	stmtFenceChanges = "fence_changes"
	stmtReindex      = "reindex_resource"
	stmtCurrent      = "current_versions"
)

// updatedNow is lastUpdated of a write: the later of the transaction's clock
// and the version before, in milliseconds.
const updatedNow = `greatest(k.updated, date_trunc('milliseconds', now()))`

const insertResource = `INSERT INTO resource (rid, self, type, id, version, updated, deleted, terms, ranges)
SELECT k.rid, k.self, k.type, k.id, 1, date_trunc('milliseconds', now()), false, ($4::bigint[])[k.low:k.high], k.ranges
FROM unnest($1::bigint[], $2::smallint[], $3::text[], $5::integer[], $6::integer[], $7::bytea[], $8::bigint[])
  AS k(rid, type, id, low, high, ranges, self)`

var statements = map[string]string{
	stmtBegin:  `BEGIN ISOLATION LEVEL READ COMMITTED`,
	stmtCommit: `COMMIT`,
	stmtNow:    `SELECT date_trunc('milliseconds', now()), pg_current_xact_id(), pg_backend_pid()`,

	stmtNowFenced:    `SELECT date_trunc('milliseconds', now()), pg_current_xact_id(), pg_backend_pid(), pg_advisory_xact_lock_shared(4, 2)`,
	stmtNowChanging:  `SELECT date_trunc('milliseconds', now()), pg_current_xact_id(), pg_backend_pid(), pg_advisory_xact_lock(4, 1)`,
	stmtNowBoth:      `SELECT date_trunc('milliseconds', now()), pg_current_xact_id(), pg_backend_pid(), pg_advisory_xact_lock(4, 1), fence_changes()`,
	stmtFenceChanges: `SELECT fence_changes()`,
	stmtCheckBasis: `SELECT refuse_stale(domain, version, cache_lineage(epoch)) FROM cache_version
WHERE version < CASE domain WHEN 'validation' THEN $1::bigint WHEN 'routing' THEN $3::bigint WHEN 'subscriptions' THEN $5::bigint ELSE version END
OR version > CASE domain WHEN 'validation' THEN $2::bigint WHEN 'routing' THEN $4::bigint WHEN 'subscriptions' THEN $6::bigint ELSE version END
OR cache_lineage(epoch) <> $7::text`,

	stmtRead: `SELECT k.ord, v.version, v.updated, v.method, v.meta, v.body
FROM unnest($1::smallint[], $2::text[]) WITH ORDINALITY AS k(type, id, ord)
JOIN resource r ON r.type = k.type AND r.id = k.id
JOIN version v ON v.rid = r.rid AND v.version = r.version`,

	stmtReadVer: `SELECT k.ord, v.version, v.updated, v.method, v.meta, v.body
FROM unnest($1::smallint[], $2::text[], $3::integer[]) WITH ORDINALITY AS k(type, id, version, ord)
JOIN resource r ON r.type = k.type AND r.id = k.id
JOIN version v ON v.rid = r.rid AND v.version = k.version`,

	stmtLock: `SELECT k.ord, r.rid, r.version, r.updated, r.deleted, r.terms, r.ranges
FROM unnest($1::smallint[], $2::text[]) WITH ORDINALITY AS k(type, id, ord)
JOIN resource r ON r.type = k.type AND r.id = k.id
ORDER BY r.type, r.id
FOR NO KEY UPDATE OF r`,

	stmtInsert: insertResource,
	stmtClaim:  insertResource + ` ORDER BY k.type, k.id COLLATE "C" ON CONFLICT (type, id) DO NOTHING RETURNING rid`,

	stmtUpdate: `UPDATE resource r
SET version = k.version, updated = ` + updatedNow + `, deleted = k.deleted, terms = ($5::bigint[])[k.low:k.high], ranges = k.ranges
FROM unnest($1::bigint[], $2::integer[], $3::timestamptz[], $4::boolean[], $6::integer[], $7::integer[], $8::bytea[])
  AS k(rid, version, updated, deleted, low, high, ranges)
WHERE r.rid = k.rid`,

	stmtReindex: `UPDATE resource r SET terms = ($2::bigint[])[k.low:k.high], ranges = k.ranges
FROM unnest($1::bigint[], $3::integer[], $4::integer[], $5::bytea[]) AS k(rid, low, high, ranges)
WHERE r.rid = k.rid`,

	stmtCurrent: `SELECT k.ord, v.version, v.updated, v.method, v.meta, v.body
FROM unnest($1::bigint[], $2::integer[]) WITH ORDINALITY AS k(rid, version, ord)
JOIN version v ON v.rid = k.rid AND v.version = k.version`,

	stmtVersion: `INSERT INTO version (rid, type, version, updated, writer, method, meta, body)
SELECT k.rid, k.type, k.version, ` + updatedNow + `, pg_current_xact_id(), k.method, k.meta, k.body
FROM unnest($1::bigint[], $2::smallint[], $3::integer[], $4::timestamptz[], $5::smallint[], $6::text[], $7::text[])
  AS k(rid, type, version, updated, method, meta, body)`,

	stmtAmend: `UPDATE version v SET meta = k.meta, body = k.body
FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[]) AS k(rid, version, meta, body)
WHERE v.rid = k.rid AND v.version = k.version`,

	stmtAddKeys: `INSERT INTO search_key (hash, rid) SELECT * FROM unnest($1::bigint[], $2::bigint[])`,
	stmtDropKeys: `DELETE FROM search_key s USING unnest($1::bigint[], $2::bigint[]) AS k(hash, rid)
WHERE s.hash = k.hash AND s.rid = k.rid`,

	stmtAddDates: `INSERT INTO search_date (rid, param, low, high)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::timestamptz[])`,
	stmtDropDates: `DELETE FROM search_date s USING unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::timestamptz[]) AS k(rid, param, low, high)
WHERE s.param = k.param AND s.low = k.low AND s.high = k.high AND s.rid = k.rid`,

	stmtAddNumbers: `INSERT INTO search_number (rid, param, unit, code, text, low, high)
SELECT rid, param, unit, code, text, low::numeric, high::numeric
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])
  AS k(rid, param, unit, code, text, low, high)`,
	stmtDropNumber: `DELETE FROM search_number s
USING unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])
  AS k(rid, param, unit, code, text, low, high)
WHERE s.param = k.param AND s.low = k.low::numeric AND s.high = k.high::numeric AND s.rid = k.rid
  AND s.unit = k.unit AND s.code = k.code AND s.text = k.text`,

	stmtAddNames: `INSERT INTO search_name (param, value, hash, term)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) ON CONFLICT DO NOTHING`,

	stmtAddWords:  `INSERT INTO search_text (rid, words) SELECT k.rid, k.words::tsvector FROM unnest($1::bigint[], $2::text[]) AS k(rid, words)`,
	stmtSetWords:  `UPDATE search_text s SET words = k.words::tsvector FROM unnest($1::bigint[], $2::text[]) AS k(rid, words) WHERE s.rid = k.rid`,
	stmtDropWords: `DELETE FROM search_text s USING unnest($1::bigint[]) AS k(rid) WHERE s.rid = k.rid`,

	stmtAddTexts: `INSERT INTO search_string (rid, param, value) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[])`,
	stmtDropTexts: `DELETE FROM search_string s USING unnest($1::bigint[], $2::bigint[], $3::text[]) AS k(rid, param, value)
WHERE s.param = k.param AND s.value = k.value AND s.rid = k.rid`,
}
