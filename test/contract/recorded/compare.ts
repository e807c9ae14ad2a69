import type { Effect, Fix } from "../../../src/model/effects.ts";
import type { Expected, RecordedFix } from "./line.ts";

const kilometresPerKnot = 1.852;

/**
 * How near a fix must be: time ms, coordinates degrees (with the noise of a difference), speed km/h, course degrees.
 */
const tolerance = { time: 1000, coordinate: 1.001e-5, speed: 0.6, course: 1 };

/** What differs between the effects of a message and what the other server decoded of it; empty where they agree. */
export function compareFixes(effects: readonly Effect[], decoded: readonly RecordedFix[]): readonly string[] {
  const fixes = effects.filter((effect) => effect.type === "fix");
  const all = decoded.filter((entry) => entry.noFix !== true);
  // Without a position that server often answers 0,0, not valid: a report without a fix is the same.
  const expected = all.length === fixes.length ? all : all.filter((entry) => !isNowhere(entry));
  if (fixes.length !== expected.length) {
    const given = effects.map((effect) => (effect.type === "failure" ? effect.cause : effect.type)).join(", ");
    return [`${expected.length} fixes expected, ${fixes.length} given (${given || "nothing"})`];
  }
  const differences = fixes.flatMap((fix, index) => {
    const entry = expected[index];
    return entry === undefined ? [] : compareFix(fix, entry);
  });
  const failed = effects.some((effect) => effect.type === "failure");
  return decoded.length > 0 && failed ? [...differences, "a failure beside what was decoded"] : differences;
}

function isNowhere({ valid, latitude, longitude }: RecordedFix): boolean {
  return !valid && latitude === 0 && longitude === 0;
}

/** What differs from the position that the suite's authors assert of a message. */
export function comparePosition(effects: readonly Effect[], expected: Expected | null): readonly string[] {
  const { time, valid, latitude, longitude } = expected ?? {};
  if (time === undefined || valid === undefined || latitude === undefined || longitude === undefined) return [];
  const fix = effects.find((effect) => effect.type === "fix");
  if (fix === undefined) return ["a position is asserted, and none given"];
  // What is asserted has five decimals.
  const rounded = { ...fix, latitude: Number(fix.latitude.toFixed(5)), longitude: Number(fix.longitude.toFixed(5)) };
  const { speed: _speed, course: _course, ...place } = rounded;
  return compareFix(place, { time, valid, latitude, longitude });
}

function compareFix(fix: Fix, expected: RecordedFix): string[] {
  const differences: string[] = [];
  const near = (what: string, actual: number, wanted: number, limit: number): void => {
    if (!(Math.abs(actual - wanted) <= limit)) differences.push(`${what} ${actual}, expected ${wanted}`);
  };
  if (expected.time !== "clock") near("time", fix.time, Date.parse(expected.time), tolerance.time);
  near("latitude", fix.latitude, expected.latitude, tolerance.coordinate);
  near("longitude", fix.longitude, expected.longitude, tolerance.coordinate);
  if (fix.valid !== expected.valid) differences.push(`valid ${fix.valid}, expected ${expected.valid}`);
  // A value that the other server leaves out is 0 or was not given; one that it has must be there.
  const missing = expected.speed === undefined ? 0 : Number.NaN;
  near("speed", fix.speed ?? missing, (expected.speed ?? 0) * kilometresPerKnot, tolerance.speed);
  const course = fix.course ?? (expected.course === undefined ? 0 : Number.NaN);
  const turn = Math.abs(course - (expected.course ?? 0)) % 360;
  if (!(Math.min(turn, 360 - turn) <= tolerance.course))
    differences.push(`course ${fix.course}, expected ${expected.course ?? 0}`);
  return differences;
}

/**
 * What differs between the replies of a message and those recorded. Without a record the manual decides, and nothing is
 * compared.
 */
export function compareReplies(effects: readonly Effect[], recorded: readonly string[] | undefined): readonly string[] {
  if (recorded === undefined) return [];
  const given = effects.flatMap((effect) => (effect.type === "reply" ? [effect.bytes] : []));
  if (given.length === recorded.length) return recorded.flatMap((text, index) => compareReply(given[index], text));
  const whole = given.map((bytes) => bytes.toHex()).join("");
  const plain = recorded.map((text) => plainHex(text)).join("");
  return whole === plain ? [] : [`${given.length} replies (${whole}), expected ${recorded.join(" ")}`];
}

/** Hex of a recorded reply's bytes; of one that can't be compared so, the text itself. */
function plainHex(recorded: string): string {
  if (recorded.startsWith("hex:")) return recorded.slice(4);
  return recorded.startsWith("text:") ? Buffer.from(recorded.slice(5)).toString("hex") : recorded;
}

function compareReply(given: Uint8Array | undefined, recorded: string): string[] {
  const bytes = given ?? new Uint8Array(0);
  const clock = recorded.startsWith("clock:");
  const text = clock ? recorded.slice("clock:".length) : recorded;
  const difference = [`reply ${bytes.toHex()}, expected ${recorded}`];
  if (text.startsWith("http:")) {
    const [, status, body = ""] = /^http:(\d+):([\s\S]*)$/.exec(text) ?? [];
    const [, ours, content = ""] =
      /^HTTP\/1\.1 (\d+)[\s\S]*?\r\n\r\n([\s\S]*)$/.exec(Buffer.from(bytes).toString()) ?? [];
    return ours === status && (clock || content === body) ? [] : difference;
  }
  const hex = plainHex(text);
  const same = clock ? shape(bytes.toHex(), text) === shape(hex, text) : bytes.toHex() === hex;
  return same ? [] : difference;
}

/**
 * What of a reply does not depend on the time: of a text all but its digits, of bytes the first four and the length.
 */
function shape(hex: string, recorded: string): string {
  if (recorded.startsWith("text:")) return Buffer.from(hex, "hex").toString("latin1").replaceAll(/\d/g, "0");
  return `${hex.slice(0, 8)} ${hex.length}`;
}
