import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { osmand } from "./index.ts";

const context = { receivedAt: 1, transport: "http", identified: false, options: {} } as const;

/** What a request identifies. */
function identified(text: string) {
  const [effect] = osmand.connect().decode(bytesOfLatin1(text), context);
  return effect?.type === "identify" ? effect : undefined;
}

const masked = (text: string) => latin1Of(osmand.secret?.mask(bytesOfLatin1(text)) ?? new Uint8Array());
const base64 = (text: string) => new TextEncoder().encode(text).toBase64();
const form = (body: string, fields = "") =>
  `POST /?id=a HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n${fields}\r\n${body}`;

/** A secret of letters that stand nowhere else in the requests. */
const secrets = fc.stringMatching(/^[QXZ]{6,40}$/);
/** Ways to send it. */
const ways: readonly ((secret: string) => string)[] = [
  (secret) => `GET /?id=a&secret=${secret}&lat=1&lon=2 HTTP/1.1\r\n\r\n`,
  (secret) => `GET /?secret=${secret}&id=a HTTP/1.1\r\n\r\n`,
  (secret) => `GET http://host/path?id=a&s%65cret=${secret} HTTP/1.1\r\n\r\n`,
  (secret) => `GET /?id=a&secret=none&secret=${secret} HTTP/1.1\r\n\r\n`,
  (secret) => `GET /?id=a HTTP/1.1\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
  (secret) => `GET /?id=a HTTP/1.1\r\naUTHORIZATION:basic ${base64(`user:${secret}`)}\r\n\r\n`,
  (secret) => form(`secret=${secret}&lat=1&lon=2`),
  (secret) => form("lat=1&lon=2", `Authorization: Bearer ${secret}\r\n`),
  (secret) =>
    `POST /?id=a&secret=${secret} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`.replace(
      "Content-Length: 2\r\n\r\n{}",
      'Content-Length: 15\r\n\r\n{"location":[]}',
    ),
];

test("the secret is read wherever it may stand, is no attribute, and is masked in what people see", () => {
  fc.assert(
    fc.property(secrets, fc.constantFrom(...ways), (secret, way) => {
      const request = way(secret);
      assert.deepEqual(identified(request), { type: "identify", ids: ["a"], secret });
      assert.ok(!JSON.stringify(osmand.connect().decode(bytesOfLatin1(request), context).slice(1)).includes(secret));
      const seen = masked(request);
      assert.equal(seen.length, request.length);
      for (const text of [secret, base64(`user:${secret}`)]) assert.ok(!seen.includes(text), seen);
      assert.deepEqual(identified(seen)?.ids, ["a"]);
    }),
  );
});

test("in chunks, which may cut the parameter in two, all of the body is masked", () => {
  const request =
    "POST /?id=a HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nsec\r\n8\r\nret=QXZQ\r\n0\r\n\r\n";
  assert.equal(identified(request)?.secret, "QXZQ");
  assert.ok(!masked(request).includes("QX"));
});

test("a request without one is left as it is, and brings none", () => {
  for (const fields of [
    "",
    "Authorization: Digest x\r\n",
    "Authorization: Basic !\r\n",
    `Authorization: Basic ${base64("u")}\r\n`,
  ]) {
    const request = `GET /?id=a&lat=1&lon=2 HTTP/1.1\r\n${fields}\r\n`;
    assert.deepEqual(identified(request), { type: "identify", ids: ["a"] });
    if (fields === "") assert.equal(masked(request), request);
  }
});
