-- +goose Up
-- The resources with words, by the index of words. Searches are planned without
-- bitmaps, which is all that GIN can give, and so would read the whole table.
-- +goose StatementBegin
CREATE FUNCTION text_matches(query tsquery) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE STRICT ROWS 100 SET enable_bitmapscan = on SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY SELECT t.rid FROM search_text t WHERE t.words @@ query;
END
$$;
-- +goose StatementEnd
