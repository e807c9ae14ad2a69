import type { Answer } from "./client.ts";
import { columns, isRecord, plain } from "./text.ts";

const widths = [24, 20, 50];

/**
 * The head of a table of alerts that is written while it grows; `first`: a column ahead of the others, such as the
 * device.
 */
export function alertHead(...first: readonly string[]): string {
  return row(first, ["TIME", "ALERT", "TEXT", "NOTE"]);
}

/** An alert as a line of such a table. */
export function alertRow(alert: Answer, ...first: readonly string[]): string {
  return rowWith(alert, notesOf(alert), first);
}

/** The same with what has become of the alert. */
export function alertNews(alert: Answer, ...first: readonly string[]): string {
  const { endedAt, acknowledgement, closing } = alert;
  const ended = endedAt === undefined ? "" : `ended ${plain(endedAt)}`;
  return rowWith(
    alert,
    [...notesOf(alert), ended, seen("acknowledged", acknowledgement), seen("closed", closing)],
    first,
  );
}

/** Who saw to an alert, and the note. */
function seen(what: string, act: unknown): string {
  if (!isRecord(act) || typeof act.user !== "string") return "";
  const by = `${what} by ${plain(act.user)}`;
  return typeof act.note === "string" ? `${by} (${plain(act.note)})` : by;
}

function notesOf({ phase, critical, late, notifications }: Answer): readonly string[] {
  const told = listOf(notifications);
  return [
    phase === "raised" ? "" : plain(phase),
    critical === true ? "critical" : "",
    late === true ? "late" : "",
    told === "" ? "" : `told by ${told}`,
  ];
}

function rowWith({ dateTime, alerts, text }: Answer, notes: readonly string[], first: readonly string[]): string {
  return row(first, [plain(dateTime), listOf(alerts), plain(text), notes.filter((note) => note !== "").join(", ")]);
}

function listOf(value: unknown): string {
  return Array.isArray(value) ? value.map(plain).join(", ") : "";
}

function row(first: readonly string[], cells: readonly string[]): string {
  const wide = first.map((cell) => Math.max(16, cell.length));
  return `${columns([...first, ...cells], [...wide, ...widths])}\n`;
}
