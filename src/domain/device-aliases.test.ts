import assert from "node:assert/strict";
import { test } from "node:test";
import { derivesFrom, isImei } from "./device-aliases.ts";

test("an IMEI is known by its length and check digit, with zeros before it too; an IMEISV by its length", () => {
  for (const text of ["490154203237518", "0490154203237518", "356938035643809", "3569380356438091"])
    assert.equal(isImei(text), true, text);
  for (const text of ["490154203237519", "49015420323751", "1234567890", "serial-490154203237518", "000000000000", ""])
    assert.equal(isImei(text), false, text);
});

test("other forms of an id are its last digits, the IMEI without its check digit, and zeros before it", () => {
  const id = "490154203237518";
  for (const alias of ["54203237518", "03237518", "49015420323751", "0490154203237518", "00490154203237518"])
    assert.equal(derivesFrom(id, alias), true, alias);
  for (const alias of ["3237518", "490154203237519", "154203237510", "x03237518", "1490154203237518", ""])
    assert.equal(derivesFrom(id, alias), false, alias);
  assert.equal(derivesFrom("truck-03237518", "03237518"), false);
});
