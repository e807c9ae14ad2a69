import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { messageId } from "./message-id.ts";
import { readPhone } from "./phone.ts";
import { encodeForJson, encodeForUrl, fill, type TemplateValues } from "./template.ts";

const values: TemplateValues = { to: "+57", digits: "57", text: "a", hex: "61", base64: "YQ==", secret: "s" };

test("placeholders are filled in once; all other braces stay", () => {
  assert.equal(
    fill('{"a":{"b":"{text}{x}"}}', { ...values, text: "{secret}" }, encodeForJson),
    '{"a":{"b":"{secret}{x}"}}',
  );
  assert.equal(fill("/{to}?{digits}{hex}{base64}{secret}", values, encodeForUrl), "/%2B57?5761YQ%3D%3Ds");
});

test("no text leaves its place: in a JSON string, a query or a form", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const filled = { ...values, text };
      assert.deepEqual(JSON.parse(fill('{"t":"{text}","x":1}', filled, encodeForJson)), {
        t: text.toWellFormed(),
        x: 1,
      });
      const form = new URLSearchParams(fill("t={text}&x=1", filled, encodeForUrl));
      assert.deepEqual(
        [...form],
        [
          ["t", text.toWellFormed()],
          ["x", "1"],
        ],
      );
      const url = new URL(fill("https://a.example/s?t={text}&x=1", filled, encodeForUrl));
      assert.deepEqual([url.pathname, url.searchParams.get("t"), url.hash], ["/s", text.toWellFormed(), ""]);
    }),
  );
});

test("the message's id is found by path or by pattern, or there is none", () => {
  assert.equal(messageId('{"messages":[{"id":"a1"}]}', "messages.0.id", ""), "a1");
  assert.equal(messageId('{"id":42}', "id", ""), "42");
  for (const answer of ['{"id":null}', '{"id":""}', '{"id":{}}', "[]", "x", "", `{"id":"${"9".repeat(300)}"}`])
    assert.equal(messageId(answer, "id", ""), undefined, answer);
  assert.equal(messageId("{}", "constructor.name", ""), undefined);
  assert.equal(messageId("head\nOK: 77 queued", "", "^OK: (\\S+)"), "77");
  assert.equal(messageId("ERR: 301", "", "^OK: (\\S+)"), undefined);
});

test("phone numbers: digits, perhaps with a plus and the usual separators", () => {
  assert.deepEqual(readPhone("+57 (300) 123-45.67"), { digits: "573001234567", international: true });
  assert.deepEqual(readPhone("85432"), { digits: "85432", international: false });
  for (const text of ["", "+", "12", "1".repeat(21), "++123", "12a3", "١٢٣٤", "123\r\n456&x=1"])
    assert.equal(readPhone(text), undefined, text);
  const characters = fc.string({ unit: fc.constantFrom("+", " ", "-", "1", "9", "\n", "&", "a") });
  fc.assert(fc.property(characters, (text) => /^\d{3,20}$/.test(readPhone(text)?.digits ?? "000")));
});
