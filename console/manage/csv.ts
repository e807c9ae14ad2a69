/** A row of a file, by its column. */
export interface CsvRow {
  /** Number of its first line; the first of the file is 1. */
  readonly line: number;
  readonly values: Readonly<Record<string, string>>;
}

/** What a file holds, or why it can't be read. */
export interface Csv {
  readonly columns: readonly string[];
  readonly rows: readonly CsvRow[];
  readonly separator: string;
}

const separators = [",", ";", "\t"] as const;

/** The text of a file: UTF-8 or UTF-16 by its mark, UTF-8 where it is valid, else Windows-1252, as older spreadsheets write it. */
export function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Reads CSV (RFC 4180) with commas, semicolons or tabs, whichever the first line has the most of. Names of columns lose case and blanks. */
export function readCsv(text: string): Csv {
  const first = text.slice(0, text.search(/[\r\n]|$/));
  const separator =
    separators.toSorted((left, right) => first.split(right).length - first.split(left).length)[0] ?? ",";
  const [head, ...records] = recordsOf(text, separator);
  const columns = (head?.cells ?? []).map((name) => name.trim().toLowerCase());
  const rows = records
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ""))
    .map(({ line, cells }) => ({
      line,
      values: Object.fromEntries(columns.map((column, index) => [column, plain(cells[index] ?? "")])),
    }));
  return { columns, rows, separator };
}

/** A spreadsheet that guards against formulas writes a quote before them. It is none of the value. */
function plain(cell: string): string {
  return cell.trim().replace(/^'(?=[=+\-@])/, "");
}

function recordsOf(text: string, separator: string): { readonly line: number; readonly cells: string[] }[] {
  const records: { line: number; cells: string[] }[] = [];
  let [line, begun, cell, quoted] = [1, 1, "", false];
  let cells: string[] = [];
  const endRecord = () => {
    records.push({ line: begun, cells: [...cells, cell] });
    [cells, cell] = [[], ""];
  };
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? "";
    if (sign === "\n") line += 1;
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (sign === '"' && cell === "") quoted = true;
    else if (sign === separator) {
      cells.push(cell);
      cell = "";
    } else if (sign === "\n" || (sign === "\r" && text[at + 1] !== "\n")) {
      endRecord();
      begun = line;
    } else if (sign !== "\r") cell += sign;
  }
  if (cell !== "" || cells.length > 0) endRecord();
  return records;
}
