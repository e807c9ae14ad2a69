import type { Effect, Fix } from "../../src/model/effects.ts";
import { frame, more, skip } from "../../src/wire/framing.ts";
import { parseHttpRequest } from "../../src/wire/http.ts";
import { type AnyProtocol, defineProtocol } from "../../src/wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../src/wire/reader.ts";

/** Longest message of the fixture protocol. */
const maximum = 1024;

/**
 * A protocol of lines, for tests of what is around protocols. Fields are separated by commas:
 * `#I,id` logs in, answered `#I` once admitted · `#P,n` a fix at second n, answered `#P,n` once stored · `#A,id,n` both
 * in one, answered `#A,n` · `#B,n` answered at once with n bytes · `#H` a heartbeat, answered `#H` once all before is
 * stored · `#T` answered `#T` at once · `#C,text` a command's result · `#X` a bad checksum. Over HTTP: `GET
 * /?id=ID&n=N`, answered by the gateway's own 200, or with `&body=TEXT` by the protocol's. A command is `!text`,
 * without a line feed in it.
 */
export const fixtureProtocol: AnyProtocol = defineProtocol<number>({
  id: "fixture",
  title: "Fixture",
  transports: ["tcp", "udp", "http"],
  defaultPort: 1,
  manuals: [],
  detect: (bytes, transport) => (transport === "http" || bytes[0] === 0x23 ? "sure" : "no"),
  framer: {
    maximum,
    next(buffer, offset) {
      if (buffer[offset] !== 0x23) {
        const start = buffer.indexOf(0x23, offset);
        return skip((start < 0 ? buffer.length : start) - offset, "noise");
      }
      const end = buffer.indexOf(0x0a, offset);
      return end < 0 ? more : frame(offset, end, end + 1);
    },
  },
  session: 0,
  classify: (bytes) => (bytes[0] === 0x23 ? latin1Of(bytes.subarray(1, 2)) : "http"),
  messages: [
    { name: "login", keys: ["I"], handle: line(([, id = ""]) => [identify(id), answer("#I", "identified")]) },
    { name: "fix", keys: ["P"], handle: line(([, n = "0"]) => [fix(Number(n)), answer(`#P,${n}`, "stored")]) },
    {
      name: "all",
      keys: ["A"],
      handle: line(([, id = "", n = "0"]) => [identify(id), fix(Number(n)), answer(`#A,${n}`, "stored")]),
    },
    {
      name: "heartbeat",
      keys: ["H"],
      handle: line(() => [{ type: "ignored", reason: "heartbeat" }, answer("#H", "stored")]),
    },
    { name: "time", keys: ["T"], handle: line(() => [answer("#T", "now")]) },
    { name: "bytes", keys: ["B"], handle: line(([, n = "0"]) => [answer("B".repeat(Number(n)), "now")]) },
    { name: "result", keys: ["C"], handle: line(([, text = ""]) => [{ type: "commandResult", text }]) },
    { name: "broken", keys: ["X"], handle: line(() => [{ type: "failure", cause: "badChecksum" }]) },
    { name: "request", keys: ["http"], handle: (bytes, session) => ({ session, effects: request(bytes) }) },
  ],
  commands: [
    {
      name: "line",
      encode: (text) => (text.includes("\n") ? { refused: "a line feed ends a command" } : bytesOfLatin1(`!${text}\n`)),
    },
  ],
});

function line(effects: (fields: readonly string[]) => readonly Effect[]) {
  return (bytes: Uint8Array, session: number) => ({
    session: session + 1,
    effects: effects(latin1Of(bytes).trimEnd().split(",")),
  });
}

function request(bytes: Uint8Array): readonly Effect[] {
  const parsed = parseHttpRequest(bytes);
  if ("refused" in parsed) return [{ type: "failure", cause: "malformed" }];
  const [id] = parsed.query.get("id") ?? [];
  if (id === undefined) return [{ type: "failure", cause: "notIdentified" }];
  const [body] = parsed.query.get("body") ?? [];
  const effects: Effect[] = [identify(id), fix(Number(parsed.query.get("n")?.[0] ?? 0))];
  if (body === undefined) return effects;
  const text = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  return [...effects, { type: "reply", bytes: bytesOfLatin1(text), when: "stored" }];
}

function identify(id: string): Effect {
  return { type: "identify", ids: [id] };
}

function answer(text: string, when: "now" | "identified" | "stored"): Effect {
  return { type: "reply", bytes: bytesOfLatin1(`${text}\n`), when };
}

function fix(second: number): Fix {
  const time = second * 1000;
  return { type: "fix", time, valid: true, latitude: 1, longitude: 2, alarms: [], readings: {}, attributes: {} };
}
