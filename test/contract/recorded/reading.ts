import type { Effect, Report } from "../../../src/model/effects.ts";
import type { RecordedFix, RecordedNetwork } from "./line.ts";
import { translations } from "./translations.ts";

type Value = string | number | boolean;

/** How the readings of a message compare with those of the other server that the catalogue has. */
export interface ReadingTally {
  readonly agreed: number;
  readonly differ: readonly string[];
}

/** Ours and theirs, entry by entry where there are as many. */
export function tallyReadings(effects: readonly Effect[], decoded: readonly RecordedFix[]): ReadingTally {
  const reports = effects.filter((effect) => effect.type === "fix" || effect.type === "readings");
  let agreed = 0;
  const differ: string[] = [];
  for (const [index, { attributes = {} }] of decoded.entries()) {
    const own = reports.length === decoded.length ? reports.slice(index, index + 1) : reports;
    for (const [key, value] of Object.entries(attributes)) {
      if (translations[key] === undefined) continue;
      const wrong = compareReading(own, key, value);
      if (wrong === undefined) agreed++;
      else differ.push(wrong);
    }
  }
  return { agreed, differ };
}

/**
 * What is wrong with the one reading that is asserted of a message; undefined where we have it. A name that is no
 * reading of our catalogue stands under its manual's name in the attributes, which can't be known here, so there the
 * value is looked for under any name.
 */
export function compareReading(effects: readonly Effect[], key: string, value: Value | null): string | undefined {
  const reports = effects.filter((effect) => effect.type === "fix" || effect.type === "readings");
  const wrong = (actual: unknown) => `${key} ${JSON.stringify(actual)}, expected ${JSON.stringify(value)}`;
  if (key === "alarm") {
    const alarms = reports.flatMap((report) => report.alarms);
    const missing = String(value)
      .split(",")
      .filter((alarm) => !alarms.some((given) => given === (alarmNames[alarm] ?? alarm)));
    return missing.length === 0 ? undefined : wrong(alarms);
  }
  if (key === "result") {
    const texts = effects.flatMap((effect) => (effect.type === "commandResult" ? [effect.text] : []));
    if (texts.some((text) => same(text, value))) return undefined;
  }
  if (key === "altitude" || key === "course") {
    const own = reports.map((report) => (report.type === "fix" ? report[key] : undefined));
    return own.some((each) => same(each, value)) ? undefined : wrong(own);
  }
  const [name, factor] = translations[key] ?? [];
  const expected = typeof value === "number" && factor !== undefined ? value * factor : value;
  const readings = name === undefined ? [] : reports.flatMap((report) => report.readings[name] ?? []);
  if (value === null) return readings.length === 0 ? undefined : wrong(readings);
  if (readings.some((reading) => same(reading, expected))) return undefined;
  if (readings.length > 0) return wrong(readings);
  return reports.some((report) => anywhere(report, value)) ? undefined : wrong("nothing");
}

/** What is wrong with the cells that are asserted of a message: ours stand in the attribute `cells`. */
export function compareCells(effects: readonly Effect[], { cellTowers = [] }: RecordedNetwork): readonly string[] {
  const reports = effects.filter((effect) => effect.type === "fix" || effect.type === "readings");
  const own = reports.flatMap(({ attributes }) => String(attributes.cells ?? "").split(";"));
  return cellTowers
    .map(({ mcc, mnc, lac, cid }) => `${mcc},${mnc},${lac},${cid}`)
    .filter((cell) => !own.some((each) => each === cell || each.startsWith(`${cell},`)))
    .map((cell) => `cells ${own.join(";")}, expected ${cell}`);
}

/** That server's names of alarms, where they are not ours. */
const alarmNames: Readonly<Record<string, string>> = {
  door: "doorOpened",
};

function same(actual: Value | undefined, expected: Value | null): boolean {
  if (typeof actual === "number" && typeof expected === "number")
    return Math.abs(actual - expected) < 1e-3 * Math.max(1, Math.abs(expected) * 1e-3);
  // A flag is sometimes a bit there.
  if (typeof actual === "boolean" && typeof expected === "number") return actual === (expected !== 0);
  return String(actual).toLowerCase() === String(expected).toLowerCase();
}

/**
 * Whether the value stands under any name; of a number also its thousandth, since that server keeps some values in mV
 * or m, and its hex, since manuals give bit fields so.
 */
function anywhere(report: Report, value: Value): boolean {
  const forms = typeof value === "number" ? [value, value / 1000, value.toString(16)] : [value];
  const given = [...Object.values(report.attributes), ...Object.values(report.readings)];
  return given.some((each) => forms.some((form) => same(each, form)));
}
