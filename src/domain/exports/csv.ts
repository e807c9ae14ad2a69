import type { Location } from "../../contract/location.ts";
import { LocalTimes } from "./local-times.ts";
import { unitIn, unitOf } from "./units.ts";
import { quantityIn, quantityOf } from "./values.ts";
import { type EarlyEnd, type ExportTerms, type ExportWriter, endsEarly } from "./writer.ts";

/** Fields and attributes with a column of their own. */
const numbers = ["speed", "course", "altitude", "milleage", "inactiveSeconds"] as const;
const readings = ["battery", "fuel", "fuel2", "temperature", "temperature2", "rpm"] as const;
const sensors = ["sensorTime1", "sensorTime2", "sensorTime3", "sensorTime4"] as const;
const flags = ["ignition", "valid"] as const;
const measuredColumns = [...numbers, ...readings, ...sensors];
const shownAttributes: ReadonlySet<string> = new Set<string>(["altitude", ...flags]);
const lists = ["alerts", "alertTexts", "warnings", "warningTexts"] as const;

/**
 * A table by RFC 4180, with the byte order mark by which spreadsheets know UTF-8. What has no column of its own stands
 * in the last one as JSON. A text that a spreadsheet would take for a formula begins with an apostrophe.
 */
export function csvWriter({ timeZone, units }: ExportTerms): ExportWriter {
  const local = new LocalTimes(timeZone);
  const header = [
    `time (${timeZone})`,
    "dateTime (UTC)",
    "latitude",
    "longitude",
    ...measuredColumns.map(titled),
    ...flags,
    ...["inputs", "outputs", "accessories"],
    ...[...lists, "hasCriticalAlert"],
    `attributes (units: ${units})`,
  ];

  function titled(name: string): string {
    const unit = name === "course" ? "°" : unitIn(unitOf(name) ?? "", units);
    return unit === "" ? name : `${name} (${unit})`;
  }

  function row(location: Location): string {
    const { dateTime, latitude, longitude, attributes, inputs, outputs, accessoriesAttributes = [] } = location;
    const fields: Readonly<Record<string, unknown>> = { ...location };
    const others = Object.entries(attributes).filter(([name]) => !shownAttributes.has(name));
    const rest = others.map(([name, value]) => [name, String(quantityOf(name, value, units).value)]);
    return line([
      local.plain(Date.parse(dateTime)),
      dateTime,
      ...[latitude, longitude],
      ...measuredColumns.map((name) => cellOf(name, fields[name] ?? attributes[name])),
      ...flags.map((name) => attributes[name]),
      ...[inputs, outputs].map((states) => states?.map((on) => (on ? "on" : "off")).join(" ")),
      accessoriesAttributes
        .map(({ accessoryType, accessoryStatus }) => `${accessoryType}: ${accessoryStatus}`)
        .join("; "),
      ...lists.map((name) => location[name].join("; ")),
      String(location.hasCriticalAlert),
      rest.length === 0 ? "" : JSON.stringify(Object.fromEntries(rest)),
    ]);
  }

  function cellOf(name: string, given: unknown): string | number | undefined {
    const number = typeof given === "string" ? quantityIn(given) : given;
    if (typeof number === "number") return quantityOf(name, number, units).value;
    return given === undefined ? undefined : String(given);
  }

  const early = (end: EarlyEnd) => line([endsEarly(end), ...header.slice(1).map(() => undefined)]);
  return {
    begin: () => `\ufeff${line(header)}`,
    locations: (some) => some.map(row).join(""),
    end: (end) => (end === undefined ? "" : early(end)),
  };
}

type Cell = string | number | undefined;

function line(cells: readonly Cell[]): string {
  return `${cells.map(cell).join(",")}\r\n`;
}

/**
 * Before what spreadsheets take for the begin of a formula, also in full width, also after spaces. Where a comma is the
 * decimal sign, semicolons part the cells of every table, also within our texts.
 */
const formula = /(?<=^|;)(?=[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r\n])/g;

function cell(value: Cell): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = readable(value);
  const safe = text.replace(formula, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what programs stumble over
const unreadable = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** Control characters and halves of surrogate pairs, which end or spoil a file in some programs, as U+FFFD. */
function readable(text: string): string {
  return text.toWellFormed().replace(unreadable, "\ufffd");
}
