import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { ruleTypes } from "../../src/alerts/rules/index.ts";
import type { AlertType } from "../../src/model/alert-rule.ts";
import { alertRuleContract, type Timeline } from "./alert-rules.contract.ts";

const folder = new URL("../../src/alerts/rules/", import.meta.url);
const ending = ".timeline.json";

function fileOf(type: string): string {
  return type.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function isType(name: string): name is AlertType {
  return Object.hasOwn(ruleTypes, name);
}

const types = Object.keys(ruleTypes).filter(isType);

test("every type has its file and its timelines, and there are no others", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(ending));
  assert.deepEqual(files.sort(), types.map((type) => fileOf(type) + ending).sort());
});

for (const type of types) {
  const timelines: readonly Timeline[] = JSON.parse(readFileSync(new URL(fileOf(type) + ending, folder), "utf8"));
  alertRuleContract(type, timelines);
}
