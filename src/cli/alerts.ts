import type { Answer } from "./client.ts";
import { columns, plain } from "./text.ts";

const widths = [24, 20, 50];

/** The head of a table of alerts that is written while it grows; `first`: a column ahead of the others, such as the device. */
export function alertHead(...first: readonly string[]): string {
  return row(first, ["TIME", "ALERT", "TEXT", "NOTE"]);
}

/** An alert as a line of such a table. */
export function alertRow(alert: Answer, ...first: readonly string[]): string {
  const { dateTime, alerts, text, phase, critical, late, notifications } = alert;
  const told = listOf(notifications);
  const notes = [
    phase === "raised" ? "" : phase,
    critical === true ? "critical" : "",
    late === true ? "late" : "",
    told === "" ? "" : `told by ${told}`,
  ];
  return row(first, [plain(dateTime), listOf(alerts), plain(text), notes.filter((note) => note !== "").join(", ")]);
}

function listOf(value: unknown): string {
  return Array.isArray(value) ? value.map(plain).join(", ") : "";
}

function row(first: readonly string[], cells: readonly string[]): string {
  const wide = first.map((cell) => Math.max(16, cell.length));
  return `${columns([...first, ...cells], [...wide, ...widths])}\n`;
}
