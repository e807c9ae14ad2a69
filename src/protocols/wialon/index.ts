import type { Effect } from "../../model/effects.ts";
import {
  type Certainty,
  type CommandForm,
  type DecodeContext,
  defineProtocol,
  type MessageRow,
} from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { framer } from "./framer.ts";
import { checksumHolds, type Packet, packetOf, typeOf } from "./packet.ts";
import { recordFields, reportOf } from "./record.ts";
import { simulate } from "./simulate.ts";

/** Longest identifier. */
const longestId = 64;
/** Longest command. */
const longestCommand = 1024;

/** What a connection said before. */
interface Session {
  /**
   * Whether the login named a version: from 2.0 on every message ends with a checksum. Undefined: there was no login.
   */
  readonly checked: boolean | undefined;
  /** Identifier of the last datagram, and of the login. */
  readonly id: string | undefined;
}

interface Understood {
  readonly effects: readonly Effect[];
  readonly session?: Session;
}

/** A row: finds the packet, compares its checksum where it has one, and says who sent it. */
function row(
  type: string,
  name: string,
  understand: (packet: Packet, session: Session, context: DecodeContext) => Understood,
  endsWithChecksum: (packet: Packet) => boolean = () => false,
): MessageRow<Session> {
  return {
    name,
    keys: [type],
    handle(bytes, session, context) {
      const packet = packetOf(bytes);
      if (packet === undefined) return { session, effects: [malformed] };
      const checked = packet.id === "" ? isChecked(type, session, endsWithChecksum(packet)) : packet.checked;
      const login = type === "L" ? loginOf(packet.body) : undefined;
      const id = packet.id || login?.id;
      if (checked && context.options.checksums !== "ignore" && !checksumHolds(packet))
        return { session, effects: [{ type: "failure", cause: "badChecksum", ...(id && { ids: [id] }) }] };
      if (id === undefined && session.id === undefined && !context.identified)
        return { session, effects: [{ type: "failure", cause: "notIdentified" }] };
      const { effects, session: next = session } = understand(packet, session, context);
      if (packet.id === "" || packet.id === session.id) return { session: next, effects };
      return { session: { ...next, id: packet.id }, effects: [{ type: "identify", ids: [packet.id] }, ...effects] };
    },
  };
}

/** Whether a message ends with a checksum: as the login said, else as the message looks. A ping never has one. */
function isChecked(type: string, { checked }: Session, looksSo: boolean): boolean {
  return type === "L" || checked === undefined ? looksSo : checked && type !== "P";
}

const unreadable: Effect = Object.freeze({ type: "ignored", reason: "time or place of a record can't be read" });
const malformed: Effect = Object.freeze({ type: "failure", cause: "malformed" });

function reply(text: string, when: "now" | "identified" | "stored" = "stored"): Effect {
  return { type: "reply", bytes: bytesOfLatin1(`${text}\r\n`), when };
}

/** `identifier;password`, or from version 2.0 on `version;identifier;password;checksum`. */
function loginOf(body: string) {
  const fields = body.split(";");
  const checked = fields.length > 3 || (fields.length === 3 && /^\d\.\d/.test(fields[0] ?? ""));
  const [id = "", password = ""] = checked ? fields.slice(1) : fields;
  return id === "" || id.length > longestId ? undefined : { checked, id, password: password === "NA" ? "" : password };
}

/** L: who the tracker is. (1.1, "Login packet"; 2.0, "Login packet") */
const login = row(
  "L",
  "L login",
  ({ body }, session) => {
    const said = loginOf(body);
    if (said === undefined) return { effects: [malformed] };
    const { id, password, checked } = said;
    return {
      session: { ...session, id, checked },
      effects: [
        { type: "identify", ids: [id], ...(password !== "" && { secret: password }) },
        reply("#AL#1", "identified"),
      ],
    };
  },
  ({ body }) => loginOf(body)?.checked === true,
);

/** SD and D: one record, whose last field is the checksum where it has one field more. */
function record(type: "SD" | "D", name: string, width: number): MessageRow<Session> {
  const fieldsOf = (body: string) => body.split(";");
  return row(
    type,
    name,
    ({ body }, _session, { receivedAt }) => {
      const report = reportOf(fieldsOf(body).slice(0, width), receivedAt);
      return { effects: report === undefined ? [malformed] : [report, reply(`#A${type}#1`)] };
    },
    ({ body }) => fieldsOf(body).length > width,
  );
}

/** B: records of the tracker's memory, joined by `|`; from version 2.0 on the checksum stands behind a last `|`. */
const blackBox = row(
  "B",
  "B black box",
  ({ body }, _session, { receivedAt }) => {
    const read = body
      .split("|")
      .filter((text) => text.includes(";"))
      .map((text) => reportOf(text.split(";").slice(0, recordFields.full), receivedAt, true));
    const reports = read.filter((report) => report !== undefined);
    if (reports.length === 0) return { effects: [malformed] };
    return { effects: [...read.map((report) => report ?? unreadable), reply(`#AB#${reports.length}`)] };
  },
  ({ body }) => /\|[0-9A-F]{1,4}$/i.test(body),
);

/** M: a message of the driver, or what the tracker says to a message from the server. */
const message = row("M", "M message", ({ body }, session) => {
  const text = session.checked === true ? body.slice(0, body.lastIndexOf(";")) : body;
  return { effects: [{ type: "commandResult", text }, reply("#AM#1")] };
});

/** AM: the tracker took a message of the server. */
const taken = row("AM", "AM answer to a message", ({ body }) => ({
  effects: [{ type: "commandResult", text: body, ok: body.startsWith("1") }],
}));

/** P: the tracker asks whether the connection stands. */
const ping = row("P", "P ping", () => ({
  effects: [{ type: "ignored", reason: "ping" }, reply("#AP#", "identified")],
}));

/** `#M#text`, which trackers take for a command of their own, or show to the driver. (1.1, "Message packet") */
const command: CommandForm<Session> = {
  name: "message",
  encode(text) {
    if (text.length > longestCommand) return { refused: `longer than ${longestCommand} characters` };
    if (!/^[ -~]+$/.test(text)) return { refused: "a message is printable ASCII" };
    return bytesOfLatin1(`#M#${text}\r\n`);
  },
};

/** Types whose messages a tracker may begin a connection with. */
const types: readonly string[] = ["L", "D", "SD", "B", "P", "M", "I", "T", "IT", "AM"];

/** `#TYPE#`, over UDP behind `version;identifier` or the identifier. */
function detect(bytes: Uint8Array): Certainty {
  const text = latin1Of(bytes.subarray(0, 96));
  const [, head = "", type, closed] = /^([^#]*)#([A-Z]{0,2})(#?)/.exec(text) ?? [];
  if (type === undefined) return /^(?:\d\.\d;)?[A-Za-z0-9]{1,64}$/.test(text) ? "maybe" : "no";
  if (!/^(?:(?:\d\.\d;)?[A-Za-z0-9]{1,64})?$/.test(head)) return "no";
  if (closed === "#") return types.includes(type) ? "sure" : "no";
  const possible = types.some((each) => each.startsWith(type));
  return possible && text.length === head.length + 1 + type.length ? "maybe" : "no";
}

/** The login with asterisks in place of its password. */
function mask(bytes: Uint8Array): Uint8Array {
  const packet = packetOf(bytes);
  const password = packet?.type === "L" ? loginOf(packet.body)?.password : undefined;
  if (!password) return bytes;
  const text = latin1Of(bytes);
  const at = text.indexOf(password, text.indexOf(";"));
  return at < 0
    ? bytes
    : bytesOfLatin1(text.slice(0, at) + "*".repeat(password.length) + text.slice(at + password.length));
}

/** Wialon IPS, which many makers' trackers and apps can speak. */
export const wialon = defineProtocol<Session>({
  id: "wialon",
  title: "Wialon IPS",
  transports: ["tcp", "udp"],
  defaultPort: 20332,
  manuals: [
    { title: "Wialon IPS communication protocol", version: "1.1" },
    { title: "Wialon IPS communication protocol", version: "2.0" },
  ],
  detect,
  framer,
  datagram: framer,
  secret: { where: "the password of the login", mask },
  session: Object.freeze({ checked: undefined, id: undefined }),
  classify: typeOf,
  messages: [
    login,
    record("SD", "SD short data", recordFields.short),
    record("D", "D data", recordFields.full),
    blackBox,
    message,
    taken,
    ping,
  ],
  notUnderstood: [
    "I picture",
    "IT information about a tachograph file",
    "T tachograph file",
    "0xFF compressed packet",
    "US firmware and UC configuration, which a server sends",
  ],
  commands: [command],
  simulate,
});
