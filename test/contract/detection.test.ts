import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { protocols } from "../../src/protocols/index.ts";
import { detectProtocol, readOpening } from "../../src/wire/detect.ts";
import { startsHttp } from "../../src/wire/http.ts";
import type { AnyProtocol, Transport } from "../../src/wire/protocol.ts";
import { concat, cutAt, loadVectors, streamOf } from "../support/vectors.ts";
import { opensConnection } from "./protocol/detection.ts";
import { messageBytes } from "./recorded/line.ts";
import { linesOf, sheetOf } from "./recorded/sheet.ts";

/** What a stream that arrives in these pieces is taken for. */
function takenFor(pieces: readonly Uint8Array[], transport: Transport): string {
  for (let count = 1; count <= pieces.length; count++) {
    const last = count === pieces.length;
    const found = detectProtocol(protocols, concat(pieces.slice(0, count)), transport, last);
    if (found !== "undecided") return found === "none" ? found : found.id;
  }
  return "undecided";
}

describe("detection among all protocols", () => {
  for (const protocol of protocols)
    it(`knows the streams of ${protocol.id} in any split`, () => {
      const streams = loadVectors(protocol.id).flatMap((vector) => {
        const stream = vector.transport === "tcp" && opensConnection(vector) ? streamOf(protocol, vector) : undefined;
        return stream === undefined ? [] : [{ name: vector.name, bytes: concat(stream) }];
      });
      if (streams.length === 0) return;
      fc.assert(
        fc.property(fc.constantFrom(...streams), fc.array(fc.nat(), { maxLength: 8 }), ({ name, bytes }, places) => {
          assert.equal(
            takenFor(
              cutAt(bytes, places).filter(({ length }) => length > 0),
              "tcp",
            ),
            protocol.id,
            name,
          );
        }),
      );
    });
});

/** The recorded messages of a protocol; undefined where its files are not there. */
function recorded(protocol: AnyProtocol): readonly Uint8Array[] | undefined {
  return linesOf(protocol.id, sheetOf(protocol.id))?.flatMap((line) => {
    const bytes = line.role === "decoder" ? messageBytes(line) : undefined;
    return bytes === undefined || bytes.length === 0 ? [] : [bytes];
  });
}

describe("detection of recorded messages", () => {
  for (const protocol of protocols)
    it(`gives those of ${protocol.id} that say who they are from to nobody else`, (context) => {
      const messages = recorded(protocol);
      if (messages === undefined) return context.skip("its files are not in the folder of vectors");
      const count = new Map<string, number>();
      const wrong: string[] = [];
      for (const message of messages) {
        const socket = protocol.transports.includes("tcp") ? "tcp" : "udp";
        const transport = startsHttp(message) === "sure" ? "http" : socket;
        const found = takenFor([message], transport);
        count.set(found, (count.get(found) ?? 0) + 1);
        // Others do not begin a connection: they only come from a device that is known already.
        const begins = readOpening(protocol, message, transport, true).reading === "identified";
        if (begins && found !== protocol.id) wrong.push(`${found}: ${message.toHex()}`);
      }
      const taken = [...count].map(([id, times]) => `${times} ${id}`);
      context.diagnostic(`${protocol.id}: of ${messages.length} messages are taken for: ${taken.join(", ")}`);
      assert.deepEqual(wrong, []);
    });
});
