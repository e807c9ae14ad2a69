import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { dataPacket } from "./encode.ts";
import { teltonika } from "./index.ts";

test("packets of Codec 12 and 14 are answered, without a name; nothing else is", () => {
  const wrapped = teltonika.connect().command("getver", "1", 1);
  assert.ok(wrapped instanceof Uint8Array);
  for (const bytes of [wrapped, dataPacket(14, 5, new Uint8Array(9))]) assert.deepEqual(teltonika.expects(bytes), {});
  for (const bytes of [bytesOfLatin1("getver"), new Uint8Array(0), Uint8Array.of(1), dataPacket(13, 5, wrapped)])
    assert.equal(teltonika.expects(bytes), "nothing");
});
