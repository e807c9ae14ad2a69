import { type Alarm, alarmTexts } from "./alarms.ts";
import type { LocationAlerts } from "./alert.ts";
import { reservedAttributes } from "./attribute-names.ts";
import { ContentHash, fromMemory, type Located } from "./content-hash.ts";
import type { Report } from "./effects.ts";
import { JsonText, pieceOf } from "./json-bytes.ts";
import type { LocationRecord } from "./location.ts";
import type { Accessory } from "./reading-rows.ts";
import { accessories, locationFields, type ReadingName, readingNames } from "./readings.ts";
import type { SaidRecord } from "./said.ts";

const inputNames = ["input1", "input2", "input3", "input4", "input5", "input6", "input7", "input8"] as const;
const outputNames = ["output1", "output2", "output3", "output4", "output5", "output6", "output7", "output8"] as const;

/** Where a reading goes, and the JSON that stands before its value. */
interface Place {
  readonly kind: "integer" | "number" | "attribute" | "input" | "output" | "accessory";
  readonly before: Uint8Array;
  /** Of an accessory: all of its JSON, while it is true and while it is false. */
  readonly states?: { readonly yes: Uint8Array; readonly no: Uint8Array };
  /** Position in the array of inputs or outputs. */
  readonly index: number;
}

const nothing = pieceOf("");

function statesOf({ type, yes, no }: Accessory): NonNullable<Place["states"]> {
  const state = (status: string) => pieceOf(`,${JSON.stringify({ accessoryType: type, accessoryStatus: status })}`);
  return { yes: state(yes), no: state(no) };
}

const places: ReadonlyMap<string, Place> = new Map([
  ...readingNames.map((name): [string, Place] => [
    name,
    { kind: "attribute", before: pieceOf(`,"${name}":`), index: -1 },
  ]),
  ...Object.entries(locationFields).map(([name, kind]): [string, Place] => [
    name,
    { kind, before: pieceOf(`,"${name}":`), index: -1 },
  ]),
  ...[...accessories].map(([name, accessory]): [string, Place] => [
    name,
    { kind: "accessory", before: nothing, index: -1, states: statesOf(accessory) },
  ]),
  ...inputNames.map((name, index): [string, Place] => [name, { kind: "input", before: nothing, index }]),
  ...outputNames.map((name, index): [string, Place] => [name, { kind: "output", before: nothing, index }]),
]);

const yes = pieceOf("true");
const no = pieceOf("false");
const quotedYes = pieceOf('"true"');
const quotedNo = pieceOf('"false"');
const comma = pieceOf(",");
const inputsBegin = pieceOf(',"inputs":[');
const outputsBegin = pieceOf(',"outputs":[');
const accessoriesBegin = pieceOf(',"accessoriesAttributes":[');
const listEnd = pieceOf("]");
const attributesBegin = pieceOf(',"attributes":{');
const altitudeBegin = pieceOf(',"altitude":');
const notValid = pieceOf(',"valid":"false"');
const archived = pieceOf(fromMemory.json);
const alarmsBegin = pieceOf(',"alarms":');

/** One for all: they hold nothing between two reports. */
const fields = new JsonText();
const attributes = new JsonText();
const parts = new JsonText();

/**
 * The part of a Location that is the same for ever: what was reported beside time, position, speed and course, as JSON
 * members that follow others (a leading comma), `attributes` last and left open so that a renderer can add to it.
 * Example: `,"battery":85,"inputs":[true],"attributes":{"satellites":"9"`.
 */
export function extrasOf(report: Report): string {
  writeExtras(report);
  return fields.take();
}

/** One for all: it holds nothing between two reports. */
const contentHash = new ContentHash();

/**
 * The extras of a report, and the content hash of the record that it becomes; `located`: none where it has no position.
 */
export class ExtrasAndHash {
  extras = "";
  hash = 0;

  make(report: Report, located: Located | undefined): void {
    writeExtras(report);
    this.hash = contentHash.of(located, fields, 0, fields.length);
    this.extras = fields.take();
  }
}

function writeExtras(report: Report): void {
  fields.clear();
  attributes.clear();
  parts.clear();
  let inputs = 0;
  let outputs = 0;
  for (const name in report.readings) {
    const value = report.readings[name as ReadingName];
    const place = places.get(name);
    if (value === undefined || place === undefined) continue;
    if (place.kind === "attribute") {
      attributes.piece(place.before);
      asText(value);
    } else if (place.states !== undefined) parts.piece(value === true ? place.states.yes : place.states.no);
    else if (place.kind === "input") inputs = Math.max(inputs, place.index + 1);
    else if (place.kind === "output") outputs = Math.max(outputs, place.index + 1);
    else {
      const number = Number(value);
      const shown = place.kind === "integer" ? Math.round(number) : number;
      fields.piece(place.before);
      fields.number(shown);
      // The API's field is a whole number. What was said stands beside it, since rules judge by that.
      if (shown !== number && Number.isFinite(number)) {
        attributes.piece(place.before);
        attributes.quotedNumber(number);
      }
    }
  }
  if (inputs > 0) flags(inputsBegin, inputNames, inputs, report);
  if (outputs > 0) flags(outputsBegin, outputNames, outputs, report);
  if (!parts.empty) {
    fields.piece(accessoriesBegin);
    fields.append(parts, 1);
    fields.piece(listEnd);
  }
  for (const name in report.attributes) {
    const value = report.attributes[name];
    if (value === undefined || (name === fromMemory.name && value === true)) continue;
    attributes.piece(attributeName(name));
    asText(value);
  }
  if (report.type === "fix") {
    if (report.altitude !== undefined) {
      attributes.piece(altitudeBegin);
      attributes.quotedNumber(report.altitude);
    }
    if (!report.valid) attributes.piece(notValid);
  }
  if (report.alarms.length > 0) {
    attributes.piece(alarmsBegin);
    attributes.string(report.alarms.join(","));
  }
  if (report.attributes[fromMemory.name] === true) attributes.piece(archived);
  fields.piece(attributesBegin);
  // Without the first one's comma.
  if (!attributes.empty) fields.append(attributes, 1);
}

/** Values of attributes are strings, whatever they were. */
function asText(value: string | number | boolean): void {
  if (typeof value === "number") attributes.quotedNumber(value);
  else if (typeof value === "string") attributes.string(value);
  else attributes.piece(value ? quotedYes : quotedNo);
}

/**
 * Names of attributes come from protocols' tables, so they are few; those of a phone app's own parameters must not fill
 * the memory.
 */
const quotedNames = new Map<string, Uint8Array>();
const mostQuotedNames = 4096;

function attributeName(name: string): Uint8Array {
  const known = quotedNames.get(name);
  if (known !== undefined) return known;
  // Protocols keep off these names (the contract suite looks); where one did not, a name must neither stand twice in an
  // object nor pass for what the service says.
  const taken = reservedAttributes.has(name) || name.startsWith("reported.");
  const own = taken ? `reported.${name}` : name;
  const quoted = pieceOf(`,${JSON.stringify(own)}:`);
  if (quotedNames.size < mostQuotedNames) quotedNames.set(name, quoted);
  return quoted;
}

/** A JSON array of the states up to the highest one that was reported; those between that were not are false. */
function flags(begin: Uint8Array, names: typeof inputNames | typeof outputNames, count: number, report: Report): void {
  fields.piece(begin);
  for (let index = 0; index < count; index++) {
    const name = names[index];
    if (index > 0) fields.piece(comma);
    fields.piece(name !== undefined && report.readings[name] === true ? yes : no);
  }
  fields.piece(listEnd);
}

/**
 * The Location's alert and warning fields as JSON members, with a leading comma: what rules found, and the alarms that
 * the tracker reported. Undefined where there are neither.
 */
export function alertMembers(alarms: readonly Alarm[], found: LocationAlerts | undefined): string | undefined {
  if (found === undefined && alarms.length === 0) return undefined;
  const alerts = found?.alerts ?? [];
  return (
    `,"alerts":${JSON.stringify(alerts.map(({ name }) => name))}` +
    `,"alertTexts":${JSON.stringify(alerts.map(({ text }) => text))}` +
    `,"warnings":${JSON.stringify(alarms)}` +
    `,"warningTexts":${JSON.stringify(alarms.map((alarm) => alarmTexts[alarm]))}` +
    `,"hasCriticalAlert":${alerts.some(({ critical }) => critical)}`
  );
}

/** How late a record must arrive for its arrival to be shown, ms. */
export const lateAfterMs = 60_000;

/** The alert and warning fields of a Location without any. */
export const noAlertMembers = ',"alerts":[],"alertTexts":[],"warnings":[],"warningTexts":[],"hasCriticalAlert":false';

/**
 * A number member that is no JSON: in the extras of records that were stored before numbers were looked at. Only
 * readings with a field of their own stand without quotes.
 */
const notFinite = new RegExp(`,"(?:${Object.keys(locationFields).join("|")})":(?:-?Infinity|NaN)`, "g");

/**
 * Stored extras as JSON members that can be read, whatever program wrote them: a number that is not finite is left out.
 */
export function readableExtras(extras: string): string {
  return extras.includes("Infinity") || extras.includes("NaN") ? extras.replace(notFinite, "") : extras;
}

/** The JSON of a Location up to its extras: what the record's own columns hold, and what is derived. */
export function locationHead(record: LocationRecord, odometerStart: number): string {
  const { totals } = record;
  let json = `{"dateTime":"${new Date(record.time).toISOString()}","latitude":${record.latitude},"longitude":${record.longitude}`;
  if (record.speed !== undefined && Number.isFinite(record.speed)) json += `,"speed":${record.speed}`;
  if (record.course !== undefined) json += `,"course":${record.course}`;
  json += `,"milleage":${Math.round(odometerStart * 1000 + totals.odometerMm / 1000) / 1000}`;
  json += `,"inactiveSeconds":${Math.max(0, Math.round((record.time - totals.movedAt) / 1000))}`;
  for (let input = 0; input < 4; input++)
    if ((totals.inputsKnown >> input) & 1)
      json += `,"sensorTime${input + 1}":${Math.round((totals.sensorMs[input] ?? 0) / 1000)}`;
  return json + (record.alerts ?? noAlertMembers);
}

/**
 * The JSON of a Location after its extras: attributes that depend on how the record came, and the closing braces.
 * `empty`: no attribute yet.
 */
export function locationTail(record: LocationRecord, empty: boolean): string {
  let members = "";
  if (record.positionTime !== undefined) members += `,"positionTime":"${new Date(record.positionTime).toISOString()}"`;
  if (record.receivedAt - record.time > lateAfterMs)
    members += `,"receivedAt":"${new Date(record.receivedAt).toISOString()}"`;
  return `${empty ? members.slice(1) : members}}}`;
}

/** A record as the API's Reading: what was reported, and when. JSON text. */
export function readingJson({
  time,
  receivedAt,
  unlocated,
  latitude,
  longitude,
  speed,
  course,
  ...rest
}: SaidRecord): string {
  const extras = readableExtras(rest.extras);
  let json = `{"dateTime":"${new Date(time).toISOString()}"`;
  if (!unlocated) json += `,"latitude":${latitude},"longitude":${longitude}`;
  if (!unlocated && speed !== undefined && Number.isFinite(speed)) json += `,"speed":${speed}`;
  if (!unlocated && course !== undefined) json += `,"course":${course}`;
  const received = receivedAt - time > lateAfterMs ? `"receivedAt":"${new Date(receivedAt).toISOString()}"` : "";
  return `${json}${extras}${received === "" || extras.endsWith("{") ? received : `,${received}`}}}`;
}

/** A record as the API's Location (specification 2.5), JSON text. */
export function locationJson(record: LocationRecord, odometerStart: number): string {
  const extras = readableExtras(record.extras);
  return locationHead(record, odometerStart) + extras + locationTail(record, extras.endsWith("{"));
}
