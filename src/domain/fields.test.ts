import assert from "node:assert/strict";
import { test } from "node:test";
import { countryNames, isCountry } from "./countries.ts";
import { isEmail } from "./email.ts";
import { isTimeZone, timeZoneNames } from "./time-zones.ts";

test("every country by its codes and names, in any case, with accents or without", () => {
  const entries = Object.entries(countryNames());
  assert.equal(entries.length, 249);
  for (const [code, name] of entries) {
    assert.match(code, /^[A-Z]{2}$/);
    for (const text of [code, code.toLowerCase(), name, name.toUpperCase()]) assert.ok(isCountry(text), text);
  }
  for (const text of ["COL", "usa", "Laos", "Turkiye", "Curacao", "Côte d’Ivoire", "United States"])
    assert.ok(isCountry(text), text);
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
