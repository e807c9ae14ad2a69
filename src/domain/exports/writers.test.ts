import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Location } from "../../contract/location.ts";
import { csvWriter } from "./csv.ts";
import { geojsonWriter } from "./geojson.ts";
import { gpxWriter } from "./gpx.ts";
import { kmlWriter } from "./kml.ts";
import type { ExportTerms, ExportWriter } from "./writer.ts";

const terms: ExportTerms = {
  device: { id: "490154203237518", name: "Truck <12>" },
  from: Date.UTC(2026, 10, 21),
  to: Date.UTC(2026, 10, 22),
  timeZone: "America/Bogota",
  units: "metric",
  gapMs: 3_600_000,
};

const none = { alerts: [], alertTexts: [], warnings: [], warningTexts: [], hasCriticalAlert: false };

/** A location so many minutes after 10:00 UTC, 5:00 in Bogota. */
function at(minute: number, more: Partial<Location> = {}): Location {
  const dateTime = new Date(Date.UTC(2026, 10, 21, 10, minute)).toISOString();
  return { dateTime, latitude: 4.711, longitude: -74.0721, ...none, attributes: {}, ...more };
}

function written(writer: ExportWriter, locations: readonly Location[], next?: string): string {
  const end = writer.end.bind(writer);
  return [writer.begin(), writer.locations(locations), end(next === undefined ? undefined : { from: next })].join("");
}

/** Fields of a table by RFC 4180. */
function fieldsOf(csv: string): string[][] {
  const rows: string[][] = [];
  const row: string[] = [];
  for (let at = 0; at < csv.length; ) {
    const [all = "", quoted, plain = "", end = ""] =
      /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y.exec(csv.slice(at)) ?? [];
    assert.ok(all !== "", `no field at ${at}: ${csv.slice(at, at + 80)}`);
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") rows.push(row.splice(0));
    at += all.length;
  }
  return rows;
}

/** Each row by the names of the columns. */
function tableOf(csv: string): Record<string, string>[] {
  assert.ok(csv.startsWith("\ufeff"));
  const [header = [], ...rows] = fieldsOf(csv.slice(1));
  return rows.map((row) => {
    assert.equal(row.length, header.length);
    return Object.fromEntries(header.map((name, index) => [name, row[index] ?? ""]));
  });
}

const rich = at(29, {
  ...{ speed: 42, course: 181, milleage: 120.5, battery: 85, temperature: -4, inputs: [true, false] },
  ...{ alerts: ["Speed"], alertTexts: ['Truck "12", fast'], hasCriticalAlert: true },
  accessoriesAttributes: [{ accessoryType: "door", accessoryStatus: "open" }],
  attributes: { altitude: "2600", ignition: "true", satellites: "9", hdop: "0.8", fuelVolume: "37.85411784" },
});

test("a table names its zone and units, and has every value", () => {
  const [row] = tableOf(written(csvWriter(terms), [rich]));
  assert.deepEqual(Object.fromEntries(Object.entries(row ?? {}).filter(([, value]) => value !== "")), {
    "time (America/Bogota)": "2026-11-21 05:29:00.000",
    "dateTime (UTC)": "2026-11-21T10:29:00.000Z",
    latitude: "4.711",
    longitude: "-74.0721",
    "speed (km/h)": "42",
    "course (°)": "181",
    "altitude (m)": "2600",
    "milleage (km)": "120.5",
    "battery (%)": "85",
    "temperature (°C)": "-4",
    ignition: "true",
    inputs: "on off",
    accessories: "door: open",
    alerts: "Speed",
    alertTexts: 'Truck "12", fast',
    hasCriticalAlert: "true",
    "attributes (units: metric)": '{"satellites":"9","hdop":"0.8","fuelVolume":"37.85411784"}',
  });
});

test("US units: 42 km/h are 26.098 mph, -4 °C 24.8 °F, 2600 m 8530.184 ft, 120.5 km 74.875 miles, 37.85 l ten gallons", () => {
  const [row = {}] = tableOf(written(csvWriter({ ...terms, units: "us" }), [rich]));
  assert.equal(row["speed (mph)"], "26.098");
  assert.equal(row["temperature (°F)"], "24.8");
  assert.equal(row["altitude (ft)"], "8530.184");
  assert.equal(row["milleage (mi)"], "74.875");
  assert.deepEqual(JSON.parse(row["attributes (units: us)"] ?? "").fuelVolume, "10");
  const gallons = JSON.parse(written(geojsonWriter({ ...terms, units: "metricGallons" }), [rich]));
  assert.equal(gallons.features[0].properties.attributes.fuelVolume, "10");
  assert.equal(gallons.features[0].properties.speed, 42);
  assert.equal(gallons.units.fuelVolume, "gal");
  assert.equal(gallons.units.speed, "km/h");
});

test("a table never has a formula: texts get an apostrophe, numbers stay numbers", () => {
  const texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "＝1", "\r=1", "\n=1"];
  const rows = tableOf(
    written(
      csvWriter(terms),
      texts.map((text) => at(0, { alertTexts: [text], temperature: -5 })),
    ),
  );
  assert.deepEqual(
    rows.map((row) => row.alertTexts),
    texts.map((text) => `'${text}`),
  );
  assert.deepEqual(new Set(rows.map((row) => `${row.longitude} ${row["temperature (°C)"]}`)), new Set(["-74.0721 -5"]));
});

test("a table has no formula where semicolons part its cells, as in countries with a decimal comma", () => {
  const evil = { alertTexts: ["low; =1", "=2", 'a;"=3"'], attributes: { driver: "x;=4;\t@5;-6" } };
  const [row] = written(csvWriter(terms), [at(0, evil)])
    .split("\r\n")
    .slice(1);
  for (const cell of row?.split(";").slice(1) ?? []) assert.doesNotMatch(cell, /^[\s"]*[=+\-@]/);
  const [read] = tableOf(written(csvWriter(terms), [at(0, evil)]));
  assert.equal(JSON.parse(read?.["attributes (units: metric)"] ?? "").driver, "x;'=4;\t@5;'-6");
});

test("a file that ends early says so and where to go on; one that is whole does not", () => {
  const next = "2026-11-21T10:29:00.000Z";
  for (const make of [csvWriter, gpxWriter, kmlWriter, geojsonWriter]) {
    const told = `daily results limit is reached. Export again from ${next}.`.replaceAll("'", "&apos;");
    assert.ok(written(make(terms), [rich], next).includes(told), make.name);
    assert.ok(!written(make(terms), [rich]).includes("daily results"), make.name);
  }
  const rows = tableOf(written(csvWriter(terms), [rich], next));
  assert.match(rows[1]?.["time (America/Bogota)"] ?? "", /^This export ends here/);
  const { complete, next: from, count } = JSON.parse(written(geojsonWriter(terms), [rich], next));
  assert.deepEqual([complete, from, count], [false, next, 1]);
});

test("GPX: a point with what GPX has a place for, and all readings; a silence parts the track; what is not valid is left out and counted", () => {
  const bad = at(40, { attributes: { valid: "false" } });
  const gpx = written(gpxWriter(terms), [rich, at(30), bad, at(0, { latitude: 0, longitude: 0 }), at(100)]);
  wellFormed(gpx);
  const [point] = /<trkpt.*<\/trkpt>/.exec(gpx) ?? [];
  const reading = (name: string, unit: string, value: string) =>
    `<waybeam:reading name="${name}"${unit && ` unit="${unit}"`}>${value}</waybeam:reading>`;
  assert.equal(
    point,
    '<trkpt lat="4.711" lon="-74.0721"><ele>2600</ele><time>2026-11-21T10:29:00.000Z</time><sat>9</sat><hdop>0.8</hdop>' +
      "<extensions><gpxtpx:TrackPointExtension><gpxtpx:speed>11.667</gpxtpx:speed><gpxtpx:course>181</gpxtpx:course></gpxtpx:TrackPointExtension>" +
      "<waybeam:readings><waybeam:localTime>2026-11-21T05:29:00.000-05:00</waybeam:localTime>" +
      reading("alerts", "", "Speed") +
      reading("alertTexts", "", "Truck &quot;12&quot;, fast") +
      reading("hasCriticalAlert", "", "true") +
      reading("speed", "km/h", "42") +
      reading("course", "", "181") +
      reading("milleage", "km", "120.5") +
      reading("battery", "%", "85") +
      reading("temperature", "°C", "-4") +
      reading("inputs", "", "on; off") +
      reading("accessoriesAttributes", "", "door: open") +
      reading("altitude", "m", "2600") +
      reading("ignition", "", "true") +
      reading("satellites", "", "9") +
      reading("hdop", "", "0.8") +
      reading("fuelVolume", "l", "37.85411784") +
      "</waybeam:readings></extensions></trkpt>",
  );
  assert.equal(gpx.split("<trkseg>").length, 3);
  assert.match(gpx, /<waybeam:end complete="true" points="3" leftOutAsNotValid="2"><\/waybeam:end>/);
});

test("KML: times, places and values of a track are as many; tracks join but over a silence", () => {
  const writer = kmlWriter(terms);
  const kml =
    writer.begin() +
    writer.locations([rich, at(30)]) +
    writer.locations([at(31, { attributes: { valid: "false" } }), at(32), at(99)]) +
    writer.end(undefined);
  wellFormed(kml);
  const tracks = [...kml.matchAll(/<gx:Track>.*<\/gx:Track>/g)].map(([track]) => track);
  assert.deepEqual(
    tracks.map((track) =>
      [...track.matchAll(/<when>[^<]*T05:?(\d\d)|<when>[^<]*T06:(\d\d)/g)].map(([, a, b]) => a ?? b),
    ),
    [["29", "30"], ["30", "32"], ["39"]],
  );
  for (const track of tracks)
    for (const part of ["<gx:coord>", "<gx:value>"]) {
      const values = part === "<gx:value>" ? 5 : 1;
      assert.equal(track.split(part).length - 1, values * (track.split("<when>").length - 1));
    }
  assert.match(kml, /<gx:coord>-74.0721 4.711 2600<\/gx:coord>/);
  assert.match(kml, /<name>1 positions that are not valid are left out.<\/name>/);
});

test("GeoJSON: a feature for each location, as the API gives it", () => {
  const { features, timeZone, type, complete } = JSON.parse(written(geojsonWriter(terms), [rich, at(30)]));
  assert.deepEqual([type, timeZone, complete, features.length], ["FeatureCollection", "America/Bogota", true, 2]);
  assert.deepEqual(features[0].geometry, { type: "Point", coordinates: [-74.0721, 4.711, 2600] });
  const { latitude: _latitude, longitude: _longitude, ...rest } = rich;
  assert.deepEqual(features[0].properties, { time: "2026-11-21T05:29:00.000-05:00", ...rest });
});

test("clocks are set forward and back: the offset is that of each moment", () => {
  const summer = { ...terms, timeZone: "Europe/Madrid" };
  const times = [
    "2026-03-29T00:59:59.000Z",
    "2026-03-29T01:00:00.000Z",
    "2026-10-25T01:00:00.000Z",
    "2026-01-01T00:00:00.000Z",
  ];
  const { features } = JSON.parse(
    written(
      geojsonWriter(summer),
      times.map((dateTime) => at(0, { dateTime })),
    ),
  );
  assert.deepEqual(
    features.map(({ properties }: { properties: { time: string } }) => properties.time),
    [
      "2026-03-29T01:59:59.000+01:00",
      "2026-03-29T03:00:00.000+02:00",
      "2026-10-25T02:00:00.000+01:00",
      "2026-01-01T01:00:00.000+01:00",
    ],
  );
});

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(
      "<",
      "]]>",
      "&",
      '"',
      "'",
      "\0",
      "\ud800",
      "\uffff",
      "\r",
      "\n",
      ",",
      "=",
      "-",
      "\u202e",
      ";",
      "\x1b",
    ),
  }),
);
const anyNumber = fc.double({ min: -1e300, max: 1e300, noNaN: true });
const anyLocation: fc.Arbitrary<Location> = fc.record(
  {
    dateTime: fc
      .date({ min: new Date("0001-01-02T00:00:00Z"), max: new Date("9999-12-30T00:00:00Z"), noInvalidDate: true })
      .map((date) => date.toISOString()),
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    speed: anyNumber,
    temperature: anyNumber,
    alerts: fc.array(anyText),
    alertTexts: fc.array(anyText),
    warnings: fc.array(anyText),
    warningTexts: fc.array(anyText),
    hasCriticalAlert: fc.boolean(),
    attributes: fc.dictionary(
      fc.oneof(anyText, fc.constantFrom("altitude", "satellites", "hdop", "valid", "fuelVolume")),
      anyText,
    ),
    accessoriesAttributes: fc.array(fc.record({ accessoryType: anyText, accessoryStatus: anyText })),
    inputs: fc.array(fc.boolean()),
  },
  {
    requiredKeys: ["dateTime", "latitude", "longitude", ...(Object.keys(none) as (keyof typeof none)[]), "attributes"],
  },
);

test("whatever a reading holds, every file is well-formed, and a table has no formula", () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyLocation, { maxLength: 4 }), { maxLength: 3 }), anyText, (pieces, name) => {
      const asked = { ...terms, device: { id: "d", name }, units: "us" as const };
      const file = (make: (asked: ExportTerms) => ExportWriter) => {
        const writer = make(asked);
        const text = [writer.begin(), ...pieces.map(writer.locations), writer.end({ from: "x" })].join("");
        return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.from(text));
      };
      wellFormed(file(gpxWriter));
      wellFormed(file(kmlWriter));
      assert.equal(JSON.parse(file(geojsonWriter)).features.length, pieces.flat().length);
      const rows = tableOf(file(csvWriter));
      assert.equal(rows.length, pieces.flat().length + 1);
      for (const cell of rows.flatMap((row) => Object.values(row)))
        assert.ok(!/^\s*[=+\-@]/.test(cell) || Number.isFinite(Number(cell)), cell);
    }),
    { numRuns: 300 },
  );
});

/** Fails where a text is no well-formed XML of the kind that is written here: no comments, no sections, no types. */
function wellFormed(xml: string): void {
  assert.match(xml, /^<\?xml version="1.0" encoding="UTF-8"\?>\n/);
  const body = xml.slice(xml.indexOf("\n") + 1);
  const open: string[] = [];
  let roots = 0;
  const token = /<(\/?)([A-Za-z][\w.-]*(?::[A-Za-z][\w.-]*)?)((?:\s+[\w:.-]+="[^"<]*")*)(\/?)>|([^<]+)/y;
  while (token.lastIndex < body.length) {
    const from = token.lastIndex;
    const [, close, name = "", attributes = "", empty, text = ""] =
      token.exec(body) ?? assert.fail(body.slice(from, from + 90));
    for (const part of [attributes, text]) onlyXml(part);
    if (name === "") assert.ok(open.length > 0 || text.trim() === "", text);
    else if (close === "/") assert.equal(open.pop(), name);
    else {
      if (open.length === 0) roots++;
      const [prefix, local] = name.split(":");
      if (local !== undefined) assert.ok(body.includes(`xmlns:${prefix}="`), name);
      if (empty === "") open.push(name);
    }
  }
  assert.deepEqual([open, roots], [[], 1]);
}

function onlyXml(text: string): void {
  assert.ok(text.isWellFormed());
  assert.match(text, /^[\t\n\r\x20-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u);
  assert.doesNotMatch(text, /&(?!(?:amp|lt|gt|quot|apos|#\d+);)/);
}
