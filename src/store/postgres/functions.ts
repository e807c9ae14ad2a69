import { mark, nul } from "./text.ts";

/*
 * The functions that the common SQL uses and PostgreSQL lacks, with the names and the meaning that they have in SQLite
 * (https://www.sqlite.org/json1.html), as far as we use them. They are created in the database, so that triggers can
 * call them too. All take text; PostgreSQL's own of the same names take json.
 */

/**
 * jsonb refuses the escape of U+0000, so it is replaced by the pair of `text.ts`. It is an escape only after an even
 * number of backslashes.
 */
const parsed = `case when position('\\u0000' in document) = 0 then document::jsonb
  else regexp_replace(document, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000', '\\1${mark}${nul}', 'g')::jsonb end`;

/** A path `$.a.b` in PostgreSQL's form. */
const steps = "string_to_array(substr(path, 3), '.')";

/** Created in this order: a function may use those before it. */
export const functions: readonly string[] = [
  `create or replace function json_parsed(document text) returns jsonb language sql immutable strict as $$ select ${parsed} $$`,
  `create or replace function json_items(list jsonb) returns setof text language sql immutable strict rows 20 as
    $$ select jsonb_array_elements_text(case when jsonb_typeof(list) = 'array' then list else '[]'::jsonb end) $$`,
  `create or replace function json_each(document text) returns table (value text) language sql immutable strict rows 20 as
    $$ select json_items(json_parsed(document)) $$`,
  `create or replace function json_each(document text, path text) returns table (value text) language sql immutable strict rows 20 as
    $$ select json_items(json_parsed(document) #> ${steps}) $$`,
  `create or replace function json_extract(document text, path text) returns text language sql immutable strict as
    $$ select json_parsed(document) #>> ${steps} $$`,
  `create or replace function json_array_length(document text) returns bigint language sql immutable strict as
    $$ select count(*) from json_each(document) $$`,
  `create or replace function json_array_length(document text, path text) returns bigint language sql immutable strict as
    $$ select case when json_parsed(document) #> ${steps} is not null then (select count(*) from json_each(document, path)) end $$`,
  `create or replace function json_valid(document text) returns boolean language plpgsql immutable strict as
    $$ begin perform json_parsed(document); return true; exception when others then return false; end $$`,
  `create or replace function instr(whole text, part text) returns integer language sql immutable strict as $$ select strpos(whole, part) $$`,
];
