import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Framer } from "./framing.ts";
import { httpFramer, httpResponse, parseHttpRequest, parseParameters, startsHttp } from "./http.ts";
import { maximumBody, maximumHead } from "./http-head.ts";
import { bytesOfLatin1, latin1Of } from "./reader.ts";
import { FrameStream } from "./stream.ts";

const token = fc
  .stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,10}$/)
  .filter((name) => !/^(content-length|transfer-encoding|connection)$/i.test(name));
const headerValue = fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/);

/** A request as a client sends it, and what it means. */
interface Sent {
  readonly text: string;
  readonly body: string;
}

const request: fc.Arbitrary<Sent> = fc
  .record({
    method: fc.constantFrom("GET", "POST", "PUT"),
    path: fc.stringMatching(/^\/[a-z0-9/._-]{0,12}$/),
    query: fc.array(
      fc.tuple(fc.string({ unit: "grapheme", maxLength: 5 }), fc.string({ unit: "grapheme", maxLength: 5 })),
      { maxLength: 4 },
    ),
    headers: fc.array(fc.tuple(token, headerValue), { maxLength: 4 }),
    body: fc.uint8Array({ maxLength: 60 }).map(latin1Of),
    chunks: fc.option(fc.integer({ min: 1, max: 20 })),
    blank: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ method, path, query, headers, body, chunks, blank }) => {
    const target = `${path}?${query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&")}`;
    const head = `${"\r\n".repeat(blank)}${method} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}`;
    if (chunks === null) return { text: `${head}Content-Length: ${body.length}\r\n\r\n${body}`, body };
    let coded = "";
    for (let at = 0; at < body.length; at += chunks) {
      const piece = body.slice(at, at + chunks);
      coded += `${piece.length.toString(16)}\r\n${piece}\r\n`;
    }
    return { text: `${head}Transfer-Encoding: chunked\r\n\r\n${coded}0\r\n\r\n`, body };
  });

function cut(pieces: readonly Uint8Array[]): { readonly frames: string[]; readonly skipped: string | undefined } {
  const stream = new FrameStream(httpFramer, Number.POSITIVE_INFINITY);
  const frames: string[] = [];
  for (const piece of pieces) {
    stream.push(piece);
    for (let next = stream.next(); next instanceof Uint8Array; next = stream.next()) frames.push(latin1Of(next));
  }
  return { frames, skipped: stream.skipReason };
}

function bodyOf(text: string): string | undefined {
  const parsed = parseHttpRequest(bytesOfLatin1(text));
  return "refused" in parsed ? undefined : latin1Of(parsed.body);
}

describe("the HTTP framer", () => {
  it("cuts requests however they arrive, and gives their bodies back", () => {
    fc.assert(
      fc.property(
        fc.array(request, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        (requests, places) => {
          const bytes = bytesOfLatin1(requests.map(({ text }) => text).join(""));
          const marks = [0, ...places.map((place) => place % bytes.length).toSorted((a, b) => a - b), bytes.length];
          const pieces = marks.slice(1).map((mark, index) => bytes.slice(marks[index], mark));
          const { frames, skipped } = cut(pieces);
          assert.deepEqual(
            frames,
            requests.map(({ text }) => text.trimStart()),
          );
          assert.equal(skipped, undefined);
          assert.deepEqual(
            frames.map(bodyOf),
            requests.map(({ body }) => body),
          );
        },
      ),
    );
  });

  it("looks at each byte a few times only, and is asked only when it may have an answer, however slowly a request comes", (context) => {
    let looked = 0;
    const { indexOf } = Uint8Array.prototype;
    context.mock.method(Uint8Array.prototype, "indexOf", function (this: Uint8Array, byte: number, from = 0) {
      const found = indexOf.call(this, byte, from);
      looked += (found < 0 ? this.length : found + 1) - from;
      return found;
    });
    const head = fc.stringMatching(/^[a-z]{0,3000}$/).map((value) => `POST / HTTP/1.1\r\nA: ${value}\r\n`);
    const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 200 });
    const slow = fc.record({ head, sizes, step: fc.integer({ min: 1, max: 3 }), chunked: fc.boolean() });
    fc.assert(
      fc.property(slow, ({ head, sizes, step, chunked }) => {
        const pieces = sizes.map((size) => "x".repeat(size));
        const coded = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join("");
        const plain = pieces.join("");
        const rest = chunked
          ? `Transfer-Encoding: chunked\r\n\r\n${coded}0\r\n\r\n`
          : `Content-Length: ${plain.length}\r\n\r\n${plain}`;
        const bytes = bytesOfLatin1(head + rest);
        let calls = 0;
        const counted: Framer = {
          ...httpFramer,
          next(buffer, offset, progress) {
            calls++;
            return httpFramer.next(buffer, offset, progress);
          },
        };
        const stream = new FrameStream(counted, 0);
        looked = 0;
        let frames = 0;
        for (let at = 0; at < bytes.length; at += step) {
          stream.push(bytes.slice(at, at + step));
          while (stream.next() instanceof Uint8Array) frames++;
        }
        assert.equal(frames, 1);
        assert.ok(looked <= 8 * bytes.length, `${looked} looks at ${bytes.length} bytes`);
        const most = bytes.length - plain.length + 4 * (chunked ? sizes.length + 5 : 1);
        assert.ok(calls <= most, `${calls} calls for ${most} bytes that could tell something`);
      }),
    );
  });

  it("answers the same whether it goes on or starts again", () => {
    fc.assert(
      fc.property(request, fc.array(fc.nat({ max: 300 }), { maxLength: 8 }), ({ text }, lengths) => {
        const bytes = bytesOfLatin1(`..${text}`);
        let progress: object | undefined;
        for (const length of [...lengths.toSorted((a, b) => a - b), bytes.length]) {
          const view = bytes.subarray(0, 2 + Math.min(length, bytes.length - 2));
          const framing = httpFramer.next(view, 2, progress);
          const anew = httpFramer.next(view, 2);
          assert.equal(framing.type, anew.type);
          if (framing.type === "more") progress = framing.progress;
          else {
            assert.deepEqual(framing, anew);
            return;
          }
        }
      }),
    );
  });

  it("refuses what two readers could take differently", () => {
    const refused = {
      "both Transfer-Encoding and Content-Length":
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "malformed Content-Length": "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
      "unknown transfer coding": "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
      "line without CR": "GET / HTTP/1.1\nHost: a\r\n\r\n",
      "malformed header field": "GET / HTTP/1.1\r\nContent-Length : 3\r\n\r\nabc",
      "malformed request line": "GET  / HTTP/1.1\r\n\r\n",
      "not HTTP/1.1": "GET / HTTP/2.0\r\n\r\n",
      "control character in the head": "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n",
      "malformed chunk size": "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
      "chunk longer than its size": "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
    };
    for (const [reason, text] of Object.entries(refused)) {
      assert.deepEqual(cut([bytesOfLatin1(`${text}GET / HTTP/1.1\r\n\r\n`)]), { frames: [], skipped: reason });
      assert.ok("refused" in parseHttpRequest(bytesOfLatin1(text)), reason);
    }
    for (const length of ["-1", "+3", "0x3", "3 ", "", "1e1", "9999999999"]) {
      const text = `POST / HTTP/1.1\r\nContent-Length:${length}x\r\n\r\nabc`;
      assert.ok("refused" in parseHttpRequest(bytesOfLatin1(text)), length);
    }
    const folded = "GET / HTTP/1.1\r\nA: b\r\n Content-Length: 3\r\n\r\nabc";
    assert.ok("refused" in parseHttpRequest(bytesOfLatin1(folded)));
  });

  it("keeps its limits", () => {
    const long = (text: string) => cut([bytesOfLatin1(text)]).skipped;
    assert.equal(long(`GET /${"a".repeat(maximumHead)}`), "head too long");
    assert.equal(long(`GET / HTTP/1.1\r\nA: ${"a".repeat(maximumHead)}\r\n\r\n`), "head too long");
    assert.equal(long(`GET / HTTP/1.1\r\n${"A: b\r\n".repeat(100)}\r\n`), "too many header fields");
    assert.equal(long(`POST / HTTP/1.1\r\nContent-Length: ${maximumBody + 1}\r\n\r\n`), "body too long");
    assert.equal(long("\r\n".repeat(20)), "blank lines without end");
    const chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert.equal(long(`${chunked}${"1\r\na\r\n".repeat(5000)}`), "chunks too small");
    assert.equal(long(`${chunked}${(maximumBody + 1).toString(16)}\r\n`), "body too long");
    assert.equal(long(`${chunked}1;${"x".repeat(200)}`), "line too long");
    const largest = `POST / HTTP/1.1\r\nContent-Length: ${maximumBody}\r\n\r\n${"a".repeat(maximumBody)}`;
    assert.equal(cut([bytesOfLatin1(largest)]).frames.length, 1);
  });

  it("endures anything", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "GET / HTTP/1.1\r\n",
        "\r\n",
        "\r\n\r\n",
        "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n",
        "5\r\n",
        "abcde",
        "0\r\n",
      ),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const { frames } = cut(pieces.map(bytesOfLatin1));
        for (const frame of frames) parseHttpRequest(bytesOfLatin1(frame));
      }),
    );
  });
});

describe("a request", () => {
  const parse = (text: string) => {
    const parsed = parseHttpRequest(bytesOfLatin1(text));
    assert.ok(!("refused" in parsed), JSON.stringify(parsed));
    return parsed;
  };

  it("is read as its sender meant it", () => {
    const parsed = parse(
      "POST http://example.net/a%20b?id=1&id=2&q=x+y%2B%C3%A9&flag&=e HTTP/1.1\r\nAccept: a\r\nACCEPT: b\r\nContent-Length: 2\r\n\r\nhi",
    );
    assert.equal(parsed.path, "/a b");
    assert.deepEqual(Object.fromEntries(parsed.query), { id: ["1", "2"], q: ["x y+é"], flag: [""], "": ["e"] });
    assert.equal(parsed.headers.get("accept"), "a,b");
    assert.equal(latin1Of(parsed.body), "hi");
  });

  it("says whether its connection goes on", () => {
    assert.equal(parse("GET / HTTP/1.1\r\n\r\n").keepAlive, true);
    assert.equal(parse("GET / HTTP/1.1\r\nConnection: TE, Close\r\n\r\n").keepAlive, false);
    assert.equal(parse("GET / HTTP/1.0\r\n\r\n").keepAlive, false);
    assert.equal(parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keepAlive, true);
  });

  it("is refused where its target can't be read", () => {
    for (const target of ["/%E0%A4", `/?${"a&".repeat(300)}`])
      assert.ok("refused" in parseHttpRequest(bytesOfLatin1(`GET ${target} HTTP/1.1\r\n\r\n`)), target);
  });

  it("keeps a parameter as it came where it is not well encoded, and reads the others", () => {
    const query = parseParameters("a=%&b=%zz&%FF=c+d&e=%41+%42");
    assert.deepEqual(
      [...(query ?? [])],
      [
        ["a", ["%"]],
        ["b", ["%zz"]],
        ["%FF", ["c d"]],
        ["e", ["A B"]],
      ],
    );
  });

  it("gives back parameters as they were encoded", () => {
    const pairs = fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" })), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(pairs, (sent) => {
        const text = new URLSearchParams(sent).toString();
        const expected = Map.groupBy([...new URLSearchParams(text)], ([name]) => name);
        const read = parseParameters(text);
        assert.deepEqual(
          read,
          new Map([...expected].map(([name, values]) => [name, values.map(([, value]) => value)])),
        );
      }),
    );
  });
});

describe("the start of a connection", () => {
  it("is told from the first bytes", () => {
    for (const method of ["GET /", "POST /", "OPTIONS *"]) {
      const bytes = bytesOfLatin1(method);
      for (let length = 0; length < method.indexOf(" ") + 1; length++)
        assert.equal(startsHttp(bytes.subarray(0, length)), "maybe");
      assert.equal(startsHttp(bytes), "sure");
    }
    for (const text of ["get /", "GETS", "*HQ,", "$", "xx", "PA"])
      assert.equal(startsHttp(bytesOfLatin1(text)), text === "PA" ? "maybe" : "no");
  });
});

describe("a response", () => {
  it("says its length and whether the connection goes on", () => {
    const empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n";
    assert.equal(latin1Of(httpResponse(200, true)), empty);
    assert.equal(
      latin1Of(httpResponse(503, false, "", { "Retry-After": "10" })),
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    const text = new TextDecoder().decode(httpResponse(400, false, "é"));
    assert.match(
      text,
      /^HTTP\/1\.1 400 Bad Request\r\nContent-Type: text\/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\né$/,
    );
  });
});
