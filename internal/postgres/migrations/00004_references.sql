-- +goose Up
-- References are found from both ends: the term of a reference in search_key is
-- the hash of its parameter XOR the target's self, the hash of its type and id.
-- Rows written before have neither, and hashes are the program's, not the
-- database's, to compute.
-- +goose StatementBegin
DO $$
BEGIN
  IF EXISTS (SELECT FROM resource) THEN
    RAISE EXCEPTION 'this database was filled by a version before the first release; load its resources into a new one';
  END IF;
END
$$;
-- +goose StatementEnd
ALTER TABLE resource ADD COLUMN self bigint NOT NULL;
CREATE INDEX resource_self ON resource (self);
