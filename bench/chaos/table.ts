import type { Result } from "./stage.ts";

const number = (value: number) => value.toLocaleString("en");

/** What became of a fault. */
export function rows({ fault, seed, messages, records, blocks, counted, broken }: Result): string {
  const happened = [...counted].map(([what, times]) => `${what} ${number(times)}`).join(", ");
  return [
    `${broken.length === 0 ? "ok  " : "MISS"}  ${fault.name}: ${fault.does}`,
    `        happened: ${happened || "nothing"}; ${number(messages)} messages acknowledged, ${number(records)} records compared, ${number(blocks)} blocks (seed ${seed})`,
    ...broken.map((what) => `        does not hold: ${what}`),
  ].join("\n");
}

/** The whole in a line for each fault. */
export function table(results: readonly Result[]): string {
  const width = Math.max(...results.map(({ fault }) => fault.name.length));
  const lines = results.map(({ fault, messages, records, blocks, broken, counted }) =>
    [
      broken.length === 0 ? "ok  " : "MISS",
      fault.name.padEnd(width),
      number(messages).padStart(9),
      number(records).padStart(9),
      number(blocks).padStart(7),
      [...counted].map(([what, times]) => `${what} ${number(times)}`).join(", "),
    ].join("  "),
  );
  const head = ["    ", "fault".padEnd(width), " messages", "  records", " blocks", "happened"].join("  ");
  return [head, ...lines].join("\n");
}
