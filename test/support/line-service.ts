import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { frame, more } from "../../src/wire/framing.ts";
import { type AnyProtocol, defineProtocol } from "../../src/wire/protocol.ts";

/**
 * A made-up protocol of lines: `LOGIN <id>` and `REPORT <id> <time> <time> ...`, answered with `OK`, `OK <count>` or
 * `NO`.
 */
export const lines: AnyProtocol = defineProtocol({
  id: "lines",
  title: "lines",
  transports: ["tcp"],
  defaultPort: 1,
  manuals: [],
  detect: () => "no",
  framer: {
    maximum: 1000,
    next: (buffer, offset) => {
      const end = buffer.indexOf(10, offset);
      return end < 0 ? more : frame(offset, end, end + 1);
    },
  },
  session: {},
  classify: () => undefined,
  messages: [],
  simulate: {
    login: (device) => Buffer.from(`LOGIN ${device}\n`),
    report: (device, reports) => Buffer.from(`REPORT ${device} ${reports.map(({ time }) => time).join(" ")}\n`),
    answer: (bytes) => {
      const end = bytes.indexOf(10);
      if (end < 0) return "more";
      const [word, count] = Buffer.from(bytes.subarray(0, end)).toString().split(" ");
      return { length: end + 1, accepted: word === "OK", reports: Number(count ?? 0) };
    },
  },
});

interface Service {
  readonly port: number;
  /** Times stored by device, as often as they came. */
  readonly stored: Map<string, number[]>;
}

/** A service of that protocol; `answer` may answer in its own way or destroy the socket. */
export async function lineService(
  context: TestContext,
  answer: (words: string[], socket: Socket) => string | undefined,
) {
  const stored = new Map<string, number[]>();
  const server: Server = createServer((socket) => {
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      text += bytes.toString();
      for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
        const words = text.slice(0, end).split(" ");
        text = text.slice(end + 1);
        const [kind, device = "", ...times] = words;
        const said = answer(words, socket);
        if (said?.startsWith("OK") && kind === "REPORT")
          stored.set(device, [...(stored.get(device) ?? []), ...times.map(Number)]);
        if (said) socket.write(`${said}\n`);
      }
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  context.after(() => void server.close());
  const address = server.address();
  assert.ok(address && typeof address === "object");
  return { port: address.port, stored } satisfies Service;
}

/** Takes everything. */
export const accept = ([kind, , ...times]: string[]) => (kind === "LOGIN" ? "OK" : `OK ${times.length}`);
