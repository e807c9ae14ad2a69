/** A text that came from elsewhere, made harmless for a terminal: no control characters. */
export function plain(value: unknown): string {
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
  return text.replaceAll(/\p{Cc}/gu, "?");
}

/** Rows under a head, in columns as wide as their widest cell; the last column is not padded. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(plain));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => `${columns(row, widths)}\n`).join("");
}

/** Cells padded to given widths, for tables that are written while they grow. */
export function columns(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
    .join("  ")
    .trimEnd();
}

/** `key=value; key=value` of an object of texts. */
export function pairs(value: unknown): string {
  if (!isRecord(value)) return "";
  return Object.entries(value)
    .map(([name, text]) => `${name}=${plain(text)}`)
    .join("; ");
}

/** Whether a parsed JSON value is an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects of a parsed JSON array; none where it is no array. */
export function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
