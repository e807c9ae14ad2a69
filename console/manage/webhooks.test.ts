import assert from "node:assert/strict";
import { it } from "node:test";
import { hooksOf } from "./webhooks.ts";

it("each webhook is there once, with the rules that call it", () => {
  const hook = { url: "https://b.example/x" };
  const rules = [
    { id: "1", name: "Speed", enabled: true, channels: { webhook: [hook, { ...hook, format: "slack" as const }] } },
    { id: "2", name: "Zone", enabled: false, channels: { webhook: [hook], telegram: [{ chat: "-100" }] } },
    { id: "3", name: "None", enabled: true, channels: {} },
  ];
  assert.deepEqual(
    hooksOf(rules).map(({ target, format, rules: of }) => [target, format, of.map(({ id }) => id)]),
    [
      ["-100", "telegram", ["2"]],
      ["https://b.example/x", "waybeam", ["1", "2"]],
      ["https://b.example/x", "slack", ["1"]],
    ],
  );
});
