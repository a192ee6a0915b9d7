-- +goose Up
-- A walk of dates by their upper ends compares the lower ones, too: with these in the
-- index it reads nothing else, and no planner prefers another index and a sort.
DROP INDEX search_date_high;
CREATE INDEX search_date_high ON search_date (param, high, low, rid);
