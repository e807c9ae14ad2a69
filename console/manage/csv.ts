/** A row of a file, by the names of its columns. */
export interface CsvRow {
  /** Number of its first line; the first of the file is 1. */
  readonly line: number;
  readonly values: Readonly<Record<string, string>>;
  /** What is wrong with its form: more cells than columns, or a quote that is not closed. */
  readonly problem?: "cells" | "quote";
}

/** What a file holds. */
export interface Csv {
  readonly columns: readonly string[];
  readonly rows: readonly CsvRow[];
  readonly separator: string;
}

/** What separates cells. */
export const separators = [",", ";", "\t", "|"] as const;
/** How a file may be written. */
export const encodings = ["utf-8", "utf-16le", "utf-16be", "windows-1252"] as const;
export type Encoding = (typeof encodings)[number];

/**
 * How a file is written: by its mark, by the zeros of UTF-16, UTF-8 where it is valid, else Windows-1252, as older
 * spreadsheets write it.
 */
export function encodingOf(bytes: Uint8Array): Encoding {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const zeros = [0, 0];
  for (const [index, byte] of bytes.subarray(0, 1000).entries()) if (byte === 0) zeros[index % 2] = 1;
  if (zeros[0] !== zeros[1]) return zeros[1] === 1 ? "utf-16le" : "utf-16be";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}

/** Whether the bytes are of a workbook (a ZIP or an OLE file) or of anything else that is no text. */
export function isNoText(bytes: Uint8Array): boolean {
  const begins = (...wanted: number[]) => wanted.every((byte, index) => bytes[index] === byte);
  return (
    begins(0x50, 0x4b, 3, 4) ||
    begins(0xd0, 0xcf, 0x11, 0xe0) ||
    (encodingOf(bytes).startsWith("utf-16") ? false : bytes.includes(0))
  );
}

/**
 * Reads CSV (RFC 4180). Unless it is said, the separator is that of the line `sep=`, or whichever the first line has
 * the most of.
 */
export function readCsv(whole: string, wanted?: string): Csv {
  const named = /^sep=(.)\r?\n/i.exec(whole);
  const text = named ? whole.slice(named[0].length) : whole;
  const separator = wanted ?? named?.[1] ?? separatorOf(text);
  const [head, ...records] = recordsOf(text, separator);
  const columns = (head?.cells ?? []).map((name) => name.trim());
  const before = named ? 1 : 0;
  const rows = records
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ""))
    .map((record): CsvRow => {
      const problem = formProblem(record, columns.length);
      return {
        line: record.line + before,
        values: Object.fromEntries(columns.map((column, index) => [column, plain(record.cells[index] ?? "")])),
        ...(problem && { problem }),
      };
    });
  return { columns, rows, separator };
}

function formProblem({ cells, open }: CsvRecord, columns: number): CsvRow["problem"] {
  if (open) return "quote";
  return cells.slice(columns).some((cell) => cell.trim() !== "") ? "cells" : undefined;
}

function separatorOf(text: string): string {
  const line = text.slice(0, text.search(/[\r\n]|$/)).replaceAll(/"[^"]*"/g, "");
  return separators.toSorted((left, right) => line.split(right).length - line.split(left).length)[0] ?? ",";
}

/**
 * A spreadsheet guards against formulas with a quote before them, and keeps digits as `="..."`. Both are none of the
 * value.
 */
function plain(cell: string): string {
  return cell
    .trim()
    .replace(/^="(.*)"$/s, "$1")
    .replace(/^'(?=[=+\-@\d])/, "");
}

interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
  /** The file ends within a quote. */
  readonly open: boolean;
}

function recordsOf(text: string, separator: string): readonly CsvRecord[] {
  const records: CsvRecord[] = [];
  let [at, line] = [0, 1];
  while (at < text.length) {
    const begun = line;
    const cells: string[] = [];
    let ended = false;
    let open = false;
    while (!ended) {
      const cell = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at, separator);
      // What follows a closed quote up to the separator belongs to the cell.
      const rest = text[at] === '"' ? plainCell(text, cell.end, separator) : { value: "", end: cell.end };
      cells.push(cell.value + rest.value);
      open ||= cell.open;
      for (let sign = at; sign < rest.end; sign += 1) if (isLineEnd(text, sign)) line += 1;
      at = rest.end + 1;
      ended = text[rest.end] !== separator;
    }
    if (text[at - 1] === "\r" && text[at] === "\n") at += 1;
    line += 1;
    records.push({ line: begun, cells, open });
  }
  return records;
}

interface Cell {
  readonly value: string;
  /** Where the cell ends: at a separator, at a line's end, or at the end of the text. */
  readonly end: number;
  readonly open: boolean;
}

function plainCell(text: string, from: number, separator: string): Cell {
  let end = from;
  while (end < text.length && text[end] !== separator && text[end] !== "\n" && text[end] !== "\r") end += 1;
  return { value: text.slice(from, end), end, open: false };
}

function quotedCell(text: string, from: number): Cell {
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return { value: unquoted(text.slice(from + 1)), end: text.length, open: true };
    if (text[quote + 1] !== '"') return { value: unquoted(text.slice(from + 1, quote)), end: quote + 1, open: false };
    at = quote + 2;
  }
}

function unquoted(text: string): string {
  return text.replaceAll('""', '"');
}

/** CR LF is one end. */
function isLineEnd(text: string, at: number): boolean {
  return text[at] === "\n" || (text[at] === "\r" && text[at + 1] !== "\n");
}

/** Rows as CSV. What a spreadsheet would take for a formula gets a quote before it. */
export function csvText(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (value: string) => {
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
