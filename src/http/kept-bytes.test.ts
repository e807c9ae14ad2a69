import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { KeptBytes } from "./kept-bytes.ts";

const plain = Buffer.from("waybeam ".repeat(1000));

test("bytes are given in the smallest coding that is taken", async () => {
  const kept = new KeptBytes(plain);
  for (const [accepted, coding] of [
    [undefined, undefined],
    ["", undefined],
    ["identity", undefined],
    ["zstd", undefined],
    ["gzip", "gzip"],
    ["GZIP, deflate", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip;q=1.0, br;q=0", "gzip"],
    ["br; q=0.000, gzip ; q=0", undefined],
    ["br;q=0.5", "br"],
  ] as const) {
    const given = await kept.for(accepted);
    assert.equal(given.coding, coding, String(accepted));
    const read = { br: brotliDecompressSync, gzip: gunzipSync, none: (bytes: Buffer) => bytes };
    assert.deepEqual(read[given.coding ?? "none"](given.bytes), plain, String(accepted));
  }
});

test("bytes are compressed once for each coding, and few are sent as they are", async () => {
  const kept = new KeptBytes(plain);
  assert.equal((await kept.for("gzip")).bytes, (await kept.for("gzip, deflate")).bytes);
  assert.equal((await new KeptBytes(Buffer.from("short")).for("gzip")).coding, undefined);
});
