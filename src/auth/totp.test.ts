import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { systemIds } from "../observe/index.ts";
import {
  base32,
  hashRecoveryCode,
  makeRecoveryCodes,
  makeTotpSecret,
  plainCode,
  stepOf,
  totp,
  totpUri,
} from "./totp.ts";

/** The secret of RFC 6238, appendix B, and of RFC 4226, appendix D. */
const secret = base32(Buffer.from("12345678901234567890"));

test("codes are those of RFC 6238, appendix B, by their last six digits", () => {
  assert.equal(secret, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  const table: [seconds: number, code: string][] = [
    [59, "94287082"],
    [1111111109, "07081804"],
    [1111111111, "14050471"],
    [1234567890, "89005924"],
    [2000000000, "69279037"],
    [20000000000, "65353130"],
  ];
  for (const [seconds, code] of table) {
    assert.equal(totp(secret, Math.floor(seconds / 30)), code.slice(2));
    assert.equal(stepOf(secret, code.slice(2), seconds * 1000), Math.floor(seconds / 30));
  }
});

test("codes are those of RFC 4226, appendix D", () => {
  const codes = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"];
  assert.deepEqual(
    codes.map((_, counter) => totp(secret, counter)),
    codes,
  );
});

test("the steps before and after count as well, and no other", () => {
  const at = (step: number) => stepOf(secret, "254676", step * 30_000);
  assert.deepEqual([3, 4, 5, 6, 7].map(at), [undefined, 5, 5, 5, undefined]);
  for (const code of ["", "25467", "2546760", "２５４６７６", "abcdef"])
    assert.equal(stepOf(secret, code, 150_000), undefined);
});

test("new secrets have 160 bits, and their codes are of six digits", () => {
  const made = makeTotpSecret(systemIds);
  assert.match(made, /^[A-Z2-7]{32}$/);
  assert.notEqual(made, makeTotpSecret(systemIds));
  fc.assert(fc.property(fc.nat(), (step) => assert.match(totp(made, step), /^\d{6}$/)));
});

test("the address for authenticators holds names of any letters", () => {
  const uri = new URL(totpUri(secret, "Waybeam", "ana+x@example.com"));
  assert.deepEqual([uri.protocol, uri.host, uri.pathname], ["otpauth:", "totp", "/Waybeam:ana%2Bx%40example.com"]);
  assert.deepEqual(Object.fromEntries(uri.searchParams), { secret, issuer: "Waybeam" });
});

test("recovery codes are ten, and found however they are typed", () => {
  const { codes, hashes } = makeRecoveryCodes(systemIds);
  assert.equal(new Set(codes).size, 10);
  for (const [at, code] of codes.entries()) {
    assert.match(code, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
    for (const typed of [code, code.toUpperCase(), code.replaceAll("-", ""), ` ${code.replaceAll("-", " ")} `])
      assert.equal(hashRecoveryCode(plainCode(typed)), hashes[at]);
  }
});
