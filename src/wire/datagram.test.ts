import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cutDatagram } from "./datagram.ts";
import { type Framer, frame, more, skip } from "./framing.ts";
import { bytesOfLatin1, latin1Of } from "./reader.ts";

/** Sentences `*...#`; `$` and one letter is a message too, and with two letters where nothing follows. */
const datagram: Framer = {
  maximum: 64,
  next(buffer, offset) {
    const end = buffer.indexOf(0x23, offset);
    if (buffer[offset] === 0x2a) return end < 0 ? more : frame(offset, end + 1);
    if (buffer[offset] === 0x24) return buffer.length > offset + 3 ? frame(offset, offset + 2) : more;
    return skip(1, "between sentences");
  },
  settle: (buffer, offset) => (buffer[offset] === 0x24 ? frame(offset, buffer.length) : more),
};

function cut(text: string, framer: Framer | undefined = datagram) {
  const { messages, skipped } = cutDatagram(framer === undefined ? {} : { datagram: framer }, bytesOfLatin1(text));
  return { messages: messages.map((message) => latin1Of(message)), skipped };
}

describe("a datagram", () => {
  it("is one message where the protocol says nothing else", () => {
    assert.deepEqual(
      cutDatagram({}, bytesOfLatin1("*a#*b#")).messages.map((bytes) => latin1Of(bytes)),
      ["*a#*b#"],
    );
  });

  it("gives its messages, and counts what lies between them", () => {
    assert.deepEqual(cut("*a#\r\n$b*c#*d#"), { messages: ["*a#", "$b", "*c#", "*d#"], skipped: 2 });
  });

  it("ends its last message, as the framer says for a stream that ends, or as it stands", () => {
    assert.deepEqual(cut("*a#$bc"), { messages: ["*a#", "$bc"], skipped: 0 });
    assert.deepEqual(cut("*a#*bc"), { messages: ["*a#", "*bc"], skipped: 0 });
  });

  it("is a message where none is found in it, an empty one too", () => {
    assert.deepEqual(cut("junk"), { messages: ["junk"], skipped: 0 });
    assert.deepEqual(cut(""), { messages: [""], skipped: 0 });
  });

  it("gives views that all stay as they are", () => {
    const text = `${"*abcdefgh#".repeat(100)}$1`;
    assert.equal(cut(text).messages.join(""), text);
  });
});
