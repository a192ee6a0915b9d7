-- +goose Up
-- What people are told of an instance. Releases before this one leave it empty.
-- proved is when all it serves was last found current, by this database's clock.
ALTER TABLE cache_member
  ADD COLUMN address  text NOT NULL DEFAULT '',
  ADD COLUMN software text NOT NULL DEFAULT '',
  ADD COLUMN level    text NOT NULL DEFAULT '',
  ADD COLUMN proved   timestamptz;
