import type { ReadingRow } from "../../src/model/reading-rows.ts";
import { locationFields, readingNames, readingRows } from "../../src/model/readings.ts";
import { type Generator, generatedMark, markdownTable } from "./generator.ts";

function rangeOf(row: ReadingRow): string {
  if (row.kind !== "number") return "";
  return row.most >= Number.MAX_SAFE_INTEGER ? `from ${row.least}` : `${row.least} to ${row.most}`;
}

/** Where a reading stands in the API's Location. */
function placeOf(name: string, row: ReadingRow): string {
  if (Object.hasOwn(locationFields, name)) return `\`${name}\``;
  const list = /^(input|output)\d+$/.exec(name)?.[1];
  if (list !== undefined) return `\`${list}s\``;
  return row.kind === "boolean" && row.accessory !== undefined ? "`accessoriesAttributes`" : "`attributes`";
}

/** The catalogue of readings, for people who write rules, stories or clients. */
export const readingsDoc: Generator = {
  file: "docs/generated/readings.md",
  render() {
    const rows = readingNames.map((name) => {
      const row: ReadingRow = readingRows[name];
      return [
        `\`${name}\``,
        row.label.en,
        row.kind === "number" ? row.unit || "number" : row.kind === "boolean" ? "true, false" : "text",
        rangeOf(row),
        placeOf(name, row),
      ];
    });
    return `${generatedMark}
# Readings

What trackers report beside their position. A value outside of its range is none: it stands in \`attributes\` under the name that the tracker's manual has for it, like everything that is not in this list.
Alert rules, conditions and simulated stories use these names.

${markdownTable(["reading", "says", "unit", "range", "in a location"], rows)}
`;
  },
};
