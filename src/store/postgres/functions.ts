import { mark, nul } from "./text.ts";

/*
 * The functions that the common SQL uses and PostgreSQL lacks, under the names and with the meaning that SQLite gives them (https://www.sqlite.org/json1.html), as far as it is
 * used. They are the database's own, so that its triggers have them too. All take text: PostgreSQL's own ones of the same name take json.
 */

/** JSON writes U+0000 as an escape, which jsonb refuses; in its place stands what the store keeps for it. An escape is one where an even number of backslashes precedes it. */
const parsed = `case when position('\\u0000' in document) = 0 then document::jsonb
  else regexp_replace(document, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000', '\\1${mark}${nul}', 'g')::jsonb end`;

/** `$.a.b` as PostgreSQL's path. */
const steps = "string_to_array(substr(path, 3), '.')";

/** Made in this order: a function may use those before it. */
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
