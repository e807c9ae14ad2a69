import { type Misfit, misfitOf, type ValueSchema } from "../api/document.ts";
import type { components } from "../api/schema.ts";
import type { Csv, CsvRow } from "./csv.ts";

/** Body of the call that adds a device. */
export type NewDevice = components["schemas"]["NewDevice"];

/** A value as the API takes it; what is no number stays a text, and the service says so. */
type ToValue = (text: string) => unknown;
const text: ToValue = (value) => value;
const list: ToValue = (value) => value.split(/[\s|,;]+/).filter((part) => part !== "");
const number: ToValue = (value) => (Number.isNaN(Number(value)) ? value : Number(value));

/** Columns that a file may have, by the names of the API. Only `id` must be there. */
const columnsOf = {
  ...{ id: text, name: text, description: text, min: text, aliases: list, expires: text, milleageStart: number },
  ...{ protocols: list, networks: list, positionDays: number, timeOffset: number, speedUnit: text, secret: text },
} as const satisfies Readonly<Record<string, ToValue>>;
export const importColumns = Object.keys(columnsOf);
/** The column that saved rows tell their problem in. */
export const problemColumn = "problem";

/** What is wrong with a row before it is sent: its form, its id, or a value that the API's document rules out. */
export type RowProblem =
  | { readonly kind: "noId" | "repeated" | "known" | "rounded" | "cells" | "quote" }
  | { readonly kind: Misfit; readonly field: string };

/** A row to be added. */
export interface ImportRow {
  readonly line: number;
  readonly body: NewDevice;
  readonly problem?: RowProblem;
}

/** Why a file is refused as a whole. */
export interface Refusal {
  readonly kind: "noText" | "empty" | "noId" | "twice";
  /** The column that is there twice. */
  readonly column?: string;
}

/** Why a file can't be taken; undefined: it can. */
export function refusalOf({ columns, rows }: Csv): Refusal | undefined {
  const names = columns.filter((name) => name !== "").map((name) => fieldOf(name) ?? name);
  if (!names.includes("id")) return { kind: "noId" };
  const column = names.find((name, index) => names.indexOf(name) !== index);
  if (column !== undefined) return { kind: "twice", column };
  return rows.length === 0 ? { kind: "empty" } : undefined;
}

/**
 * The rows of a file as devices. Columns that the API has no field for are tags. `schema`: of the body, by the API's
 * document.
 */
export function rowsOf(csv: Csv, known: ReadonlySet<string>, schema: ValueSchema): readonly ImportRow[] {
  const seen = new Set<string>();
  return csv.rows.map((row) => {
    const body = bodyOf(row);
    const problem = problemOf(row, body, { seen, known, schema });
    seen.add(body.id);
    return { line: row.line, body, ...(problem && { problem }) };
  });
}

interface Compared {
  readonly seen: ReadonlySet<string>;
  readonly known: ReadonlySet<string>;
  readonly schema: ValueSchema;
}

function problemOf(row: CsvRow, body: NewDevice, { seen, known, schema }: Compared): RowProblem | undefined {
  if (row.problem !== undefined) return { kind: row.problem };
  if (body.id === "") return { kind: "noId" };
  // A spreadsheet that takes an identifier for a number keeps 15 digits of it at most, and shows fewer: "4.90154E+14".
  if (/^\d[.,]\d+E\+\d+$/i.test(body.id)) return { kind: "rounded" };
  if (seen.has(body.id)) return { kind: "repeated" };
  if (known.has(body.id)) return { kind: "known" };
  for (const [field, value] of Object.entries(body)) {
    const misfit = misfitOf(value, schema.properties?.[field] ?? {});
    if (misfit !== undefined) return { kind: misfit, field };
  }
  return undefined;
}

/** Upper and lower case of the API's names are the same in a file. */
function fieldOf(column: string): keyof typeof columnsOf | undefined {
  const lower = column.toLowerCase();
  return importColumns.find((name): name is keyof typeof columnsOf => name.toLowerCase() === lower);
}

function bodyOf({ values }: CsvRow): NewDevice {
  const fields: Record<string, unknown> = { id: "" };
  const tags: [string, string][] = [];
  for (const [column, value] of Object.entries(values)) {
    const field = fieldOf(column);
    if (value === "" || column === "" || column === problemColumn) continue;
    if (field === undefined) tags.push([column, value]);
    else fields[field] = columnsOf[field](value);
  }
  // What a file has in the place of a number or a choice may be anything: the service is asked with it as it stands.
  return { ...fields, ...(tags.length > 0 && { tags: Object.fromEntries(tags) }) } as NewDevice;
}

/** Rows as they are saved, with what is wrong with each. */
export function savedRows(rows: readonly ImportRow[], problem: (row: ImportRow) => string) {
  const tags = [...new Set(rows.flatMap(({ body }) => Object.keys(body.tags ?? {})))];
  const used = importColumns.filter((column) => rows.some(({ body }) => column in body));
  const cells = rows.map((row) => {
    const values: Readonly<Record<string, unknown>> = { ...row.body };
    const own = used.map((column) => (Array.isArray(values[column]) ? values[column].join(" ") : values[column]));
    return [...own, ...tags.map((tag) => row.body.tags?.[tag]), problem(row)].map((value) => String(value ?? ""));
  });
  return { columns: [...used, ...tags, problemColumn], cells };
}
