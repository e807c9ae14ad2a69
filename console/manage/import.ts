import type { Csv, CsvRow } from "./csv.ts";

/** Columns that a file may have; only `id` must be there. */
export const importColumns = ["id", "name", "description", "min", "aliases"] as const;

/** What is wrong with a row before the service is asked. */
export type RowProblem = "noId" | "repeated" | "known";

/** A row to be added. */
export interface ImportRow {
  readonly line: number;
  readonly body: {
    readonly id: string;
    readonly name: string | null;
    readonly description: string | null;
    readonly min: string | null;
    readonly aliases: string[];
    readonly tags: Record<string, string>;
  };
  readonly problem?: RowProblem;
}

/** The rows of a file as devices. Columns that are none of a device's are its tags. Whether the values are right is the service's to say. */
export function rowsOf({ columns, rows }: Csv, known: (id: string) => boolean): readonly ImportRow[] {
  const tags = columns.filter((column) => column !== "" && !importColumns.some((own) => own === column));
  const seen = new Set<string>();
  return rows.map((row) => {
    const body = bodyOf(row, tags);
    const problem = problemOf(body.id, seen, known);
    seen.add(body.id);
    return { line: row.line, body, ...(problem && { problem }) };
  });
}

function problemOf(id: string, seen: ReadonlySet<string>, known: (id: string) => boolean): RowProblem | undefined {
  if (id === "") return "noId";
  if (seen.has(id)) return "repeated";
  return known(id) ? "known" : undefined;
}

function bodyOf({ values }: CsvRow, tags: readonly string[]): ImportRow["body"] {
  const text = (column: string) => values[column] || null;
  return {
    id: values.id ?? "",
    name: text("name"),
    description: text("description"),
    min: text("min"),
    aliases: (values.aliases ?? "").split(/[\s|]+/).filter((alias) => alias !== ""),
    tags: Object.fromEntries(tags.flatMap((tag) => (values[tag] ? [[tag, values[tag]]] : []))),
  };
}
