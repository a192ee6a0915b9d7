-- +goose Up
-- The version of the SearchParameter up to which the values named by param have
-- been those of each version in turn.
ALTER TABLE search_parameter ADD COLUMN version bigint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE search_parameter DROP COLUMN version;
