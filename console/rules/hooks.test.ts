import assert from "node:assert/strict";
import { it } from "node:test";
import { hookRows, hooksOfRows } from "./hooks.ts";

const channels = {
  webhook: [
    { url: "https://a.example/" },
    { url: "https://b.example/", format: "template" as const, template: '{"a":"{{Text}}"}' },
  ],
  telegram: [{ chat: "-100", language: "es" as const }],
};

it("rows that nobody touched mean the same channels, with each format said", () => {
  const [first, second] = channels.webhook;
  assert.deepEqual(hooksOfRows(hookRows(channels), channels), {
    webhook: [{ ...first, format: "waybeam" }, second],
    telegram: channels.telegram,
  });
});

it("a new webhook or chat is sent with its secret, and an empty row is left out", () => {
  const rows = [
    { format: "waybeam" as const, target: " https://c.example/ ", secret: "0123456789abcdef", template: "x" },
    { format: "telegram" as const, target: "@fleet", secret: "1:AA", template: "" },
    { format: "slack" as const, target: " ", secret: "", template: "" },
  ];
  assert.deepEqual(hooksOfRows(rows, {}), {
    webhook: [{ url: "https://c.example/", format: "waybeam", secret: "0123456789abcdef" }],
    telegram: [{ chat: "@fleet", token: "1:AA" }],
  });
});
