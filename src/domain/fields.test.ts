import assert from "node:assert/strict";
import { test } from "node:test";
import { countryNames, isCountry } from "./countries.ts";
import { isEmail } from "./email.ts";
import { isTimeZone, timeZoneNames } from "./time-zones.ts";

const isoNames = [
  "Bahamas (the)",
  "Bolivia (Plurinational State of)",
  "Cabo Verde",
  "Congo (the Democratic Republic of the)",
  "Congo (the)",
  "Falkland Islands (the) [Malvinas]",
  "Gambia (the)",
  "Holy See (the)",
  "Holy See",
  "Vatican City",
  "Iran (Islamic Republic of)",
  "Korea (the Democratic People's Republic of)",
  "Korea (the Republic of)",
  "Lao People's Democratic Republic (the)",
  "Micronesia (Federated States of)",
  "Moldova (the Republic of)",
  "Republic of Moldova",
  "Netherlands (Kingdom of the)",
  "North Macedonia",
  "Palestine, State of",
  "Philippines (the)",
  "Russian Federation (the)",
  "Saint Helena, Ascension and Tristan da Cunha",
  "Syrian Arab Republic (the)",
  "Taiwan (Province of China)",
  "Tanzania, the United Republic of",
  "Timor-Leste",
  "United Kingdom of Great Britain and Northern Ireland (the)",
  "United States of America (the)",
  "Venezuela (Bolivarian Republic of)",
  "Viet Nam",
  "Virgin Islands (British)",
  "Virgin Islands (U.S.)",
  "Macau",
  "Swaziland",
];

test("every country by its codes and names, in any case, with accents or without", () => {
  const entries = Object.entries(countryNames());
  assert.equal(entries.length, 249);
  for (const [code, name] of entries) {
    assert.match(code, /^[A-Z]{2}$/);
    for (const text of [code, code.toLowerCase(), name, name.toUpperCase()]) assert.ok(isCountry(text), text);
  }
  for (const text of ["COL", "usa", "Laos", "Turkiye", "Curacao", "Côte d’Ivoire", "United States"])
    assert.ok(isCountry(text), text);
  // Those of ISO 3166-1 itself, and what people say.
  for (const text of isoNames) assert.ok(isCountry(text), text);
  for (const text of ["", "XK", "XX", "ZZ", "CO ", "170", "constructor", "Atlantis", "kosovo"])
    assert.equal(isCountry(text), false, text);
});

test("time zones of the form Region/City, by any of their names; standard time on both halves of the globe", () => {
  for (const zone of ["America/Bogota", "Asia/Kolkata", "Asia/Calcutta", "America/Argentina/Buenos_Aires", "Etc/UTC"])
    assert.ok(isTimeZone(zone), zone);
  for (const zone of ["", "/", "UTC", "Bogota", "+05:00", "America/", "America/Bogota ", "a/b/../c"])
    assert.equal(isTimeZone(zone), false, zone);
  const names = timeZoneNames(Date.UTC(2026, 6, 1));
  for (const zone of Object.keys(names)) assert.ok(isTimeZone(zone), zone);
  assert.equal(names["America/New_York"], "Eastern Standard Time");
  assert.equal(names["Australia/Sydney"], "Australian Eastern Standard Time");
  assert.equal(timeZoneNames(0), names);
  for (const zone of Intl.supportedValuesOf("timeZone")) assert.equal(zone in names, zone.includes("/"), zone);
  // Names that the runtime takes and lists under older ones, or not at all.
  assert.equal(names["Asia/Kolkata"], names["Asia/Calcutta"]);
  assert.equal(names["Etc/UTC"], "Coordinated Universal Time");
  for (const zone of ["Europe/Kyiv", "America/Argentina/Buenos_Aires", "Asia/Ho_Chi_Minh", "US/Eastern", "Etc/GMT+5"])
    assert.ok(zone in names, zone);
  assert.deepEqual(Object.keys(names), Object.keys(names).toSorted());
});

test("e-mail addresses", () => {
  const local = "x".repeat(64);
  for (const text of [
    "a@b.co",
    "a.b+c@x-1.example.com",
    "o'neil@example.museum",
    `${local}@example.com`,
    "A_B@EXAMPLE.COM",
  ])
    assert.ok(isEmail(text), text);
  const wrong = [
    "",
    "@",
    "a",
    "a@",
    "@b.co",
    "a@b",
    "a@b.",
    "a@.b",
    "a@b..co",
    "a..b@c.co",
    ".a@b.co",
    "a.@b.co",
    "a b@c.co",
  ];
  for (const text of [
    ...wrong,
    "a@b_c.co",
    "a@-b.co",
    "a@b-.co",
    "a@@b.co",
    "a@b.co\n",
    "<a@b.co>",
    "a,b@c.co",
    "a\u0000@b.co",
  ])
    assert.equal(isEmail(text), false, JSON.stringify(text));
  assert.equal(isEmail(`${local}x@example.com`), false);
  assert.equal(isEmail(`a@${"x".repeat(60)}.${"y.".repeat(100)}com`), false);
  assert.equal(isEmail(`${"a.".repeat(30_000)}@`), false);
});
