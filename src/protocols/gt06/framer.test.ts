import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { crc16X25 } from "../../wire/checksums.ts";
import { acknowledgement, contentSize, open, seal } from "./envelope.ts";
import { detect, framer } from "./framer.ts";

const hex = (text: string): Uint8Array => Uint8Array.fromHex(text);

/** Lengths of the frames of a buffer that holds nothing else. */
function frameLengths(buffer: Uint8Array): readonly number[] {
  const lengths: number[] = [];
  for (let at = 0; at < buffer.length; ) {
    const framing = framer.next(buffer, at);
    assert.equal(framing.type, "frame", JSON.stringify(framing));
    if (framing.type !== "frame") break;
    lengths.push(framing.end - at);
    at = framing.end;
  }
  return lengths;
}

const content = fc.uint8Array({ maxLength: 240 });

describe("the GT06 framer", () => {
  it("cuts sealed messages of any content, one behind the other", () => {
    const message = fc
      .tuple(fc.integer({ min: 0x20, max: 0x60 }), fc.nat(0xffff), content, fc.boolean())
      .map(([type, serial, bytes, extended]) => seal(type, serial, bytes, extended));
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 5 }), (messages) => {
        const stream = Uint8Array.from(messages.flatMap((bytes) => [...bytes]));
        assert.deepEqual(
          frameLengths(stream),
          messages.map((bytes) => bytes.length),
        );
      }),
    );
  });

  it("opens what it has sealed, and nothing with another bit", () => {
    fc.assert(
      fc.property(content, fc.nat(0xffff), fc.boolean(), fc.nat(), (bytes, serial, extended, place) => {
        const sealed = seal(0x40, serial, bytes, extended);
        const message = open(sealed);
        assert.equal(message?.serial, serial);
        assert.deepEqual(message?.reader.take(message.size), bytes);
        const damaged = sealed.slice();
        // From the protocol number on to the checksum; a changed length is no message at all.
        const first = extended ? 4 : 3;
        const at = first + (place % (sealed.length - 2 - first));
        damaged[at] = (damaged[at] ?? 0) ^ (1 << (place & 7));
        assert.equal(open(damaged), undefined);
      }),
    );
  });

  it("tells a message that has no length of its own from a sealed one that is not whole", () => {
    const bare = hex("78780d010350000000000017090d0a");
    assert.deepEqual(frameLengths(bare), [15]);
    // A sealed login with the serial number and the checksum's first byte where the bare one has its stop bits.
    for (let imei = 0; imei < 1_000; imei++) {
      for (const serial of [0x000d, 0x010d]) {
        const sealed = seal(0x01, serial, hex(`0350000000${String(imei).padStart(6, "0")}`));
        assert.equal(framer.next(sealed.subarray(0, 15), 0).type, "more");
        assert.deepEqual(frameLengths(sealed), [18]);
      }
    }
  });

  it("takes a length that leaves out the checksum", () => {
    const body = hex("0813460402000200ff");
    const sum = crc16X25(body);
    const frame = Uint8Array.of(0x78, 0x78, ...body, sum >> 8, sum & 0xff, 0x0d, 0x0a);
    assert.deepEqual(frameLengths(frame), [frame.length]);
    assert.equal(contentSize(frame), 5);
    assert.equal(open(frame)?.serial, 0x00ff);
  });

  it("finds the next start behind stop bits that are missing", () => {
    const good = seal(0x13, 7, hex("4604030002"));
    const damaged = good.slice(0, -2);
    const stream = Uint8Array.from([...damaged, ...good]);
    let at = 0;
    let framing = framer.next(stream, at);
    while (framing.type === "skip") {
      at += framing.length;
      framing = framer.next(stream, at);
    }
    assert.equal(at, damaged.length);
    assert.equal(framing.type, "frame");
  });

  it("wants no more than its maximum", () => {
    const longest = framer.maximum - 6 - 2;
    const header = (length: number) => Uint8Array.of(0x79, 0x79, length >> 8, length & 0xff);
    assert.equal(framer.next(header(longest), 0).type, "more");
    assert.equal(framer.next(header(longest + 1), 0).type, "skip");
  });
});

describe("recognition of GT06", () => {
  it("is sure of a whole message only", () => {
    const login = seal(0x01, 1, hex("0350000000000017"));
    for (let length = 1; length < login.length; length++) assert.equal(detect(login.subarray(0, length)), "maybe");
    assert.equal(detect(login), "sure");
    assert.equal(detect(hex("7879")), "no");
    assert.equal(detect(hex("000d")), "no");
  });
});

describe("an acknowledgement", () => {
  it("is the sealed message without content", () => {
    fc.assert(
      fc.property(fc.nat(0xff), fc.nat(0xffff), (type, serial) => {
        assert.deepEqual(acknowledgement(type, serial), seal(type, serial));
      }),
    );
  });
});
