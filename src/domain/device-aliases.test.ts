import assert from "node:assert/strict";
import { test } from "node:test";
import type { RememberedKnock } from "../ports/quarantine.ts";
import { type AliasGiver, checkAliases } from "./device-aliases.ts";

const tenant: AliasGiver = { scope: { all: true, ids: new Set() }, runsService: false };
const knock = {
  cause: "unknown",
  protocol: "h02",
  address: "192.0.2.1",
  firstSeen: 0,
  lastSeen: 0,
  attempts: 1,
  seq: 1,
};

/** What is answered to who gives an alias while a tracker of these identifiers knocks; undefined: it is allowed. */
function refusal(alias: string, giver: AliasGiver, ...ids: string[]): string | undefined {
  const knocks = ids.map((id) => ({ ...knock, ids: [id] }) as RememberedKnock);
  try {
    checkAliases([alias], { aliases: ["kept-1"] }, giver, { unknown: () => knocks });
  } catch (error) {
    return (error as { code?: string }).code;
  }
  return undefined;
}

test("what has the form of an IMEI is no alias, with zeros before it or a wrong check digit too", () => {
  for (const alias of [
    "490154203237518",
    "490154203237519",
    "0490154203237518",
    "00490154203237518",
    "3569380356438091",
  ])
    assert.equal(refusal(alias, tenant), "aliasNotAllowed", alias);
  for (const alias of ["49015420323751", "54203237518", "1234567890", "serial-490154203237518"])
    assert.equal(refusal(alias, tenant), undefined, alias);
});

test("what an unregistered tracker reports is no alias of any device; who runs the service may give it to one", () => {
  for (const id of ["1234567890", "54203237518"]) {
    assert.equal(refusal(id, tenant, id), "deviceExists", id);
    assert.equal(refusal(id, { ...tenant, runsService: true }, id), undefined, id);
  }
});

test("a user gives only what it may register; what the device has stays", () => {
  const limited: AliasGiver = { ...tenant, scope: { all: false, ids: new Set(["490154203237518", "serial-7"]) } };
  for (const alias of ["54203237518", "1234567890", "490154203237518x"])
    assert.equal(refusal(alias, limited), "permissionDenied", alias);
  for (const alias of ["serial-7", "kept-1"]) assert.equal(refusal(alias, limited), undefined, alias);
});
