import type { Effect } from "../../model/effects.ts";
import { type Certainty, type DecodeContext, type Decoded, defineProtocol } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { readingsOrNothing } from "../../wire/report.ts";
import { Writer } from "../../wire/writer.ts";
import { command, configurationName, expects, textKey } from "./command.ts";
import { readConfiguration } from "./configuration.ts";
import { readData } from "./data.ts";
import {
  command as codes,
  commandOf,
  commands,
  framer,
  type Item,
  imeiOf,
  isSummed,
  itemsOf,
  seal,
  sequenceOf,
  wantsAnswer,
} from "./envelope.ts";
import { textOf } from "./group.ts";
import { initialSession, type MiniFinder2Session } from "./session.ts";
import { simulate } from "./simulate.ts";

/** Keys of the IMEI: of data, and of a configuration. */
const dataId = 0x01;
const configurationId = 0x03;

function detect(bytes: Uint8Array): Certainty {
  if (bytes[0] !== 0xab) return "no";
  if (bytes.length < 9) return "maybe";
  if (!commands.has(bytes[8] ?? 0)) return "no";
  return bytes[9] === 0x10 && bytes[10] === dataId ? "sure" : "maybe";
}

type Read = (bytes: Uint8Array, items: readonly Item[], context: DecodeContext) => readonly Effect[];

/** `idKey`: the key under which the message says who sent it. */
function handler(read: Read, idKey: number, when: "identified" | "stored") {
  return (bytes: Uint8Array, session: MiniFinder2Session, context: DecodeContext): Decoded<MiniFinder2Session> => {
    const items = itemsOf(bytes);
    const given = imeiOf(bytes, items, idKey);
    if (!isSummed(bytes) && context.options.checksums !== "ignore")
      return { session, effects: [{ type: "failure", cause: "badChecksum", ...(given && { ids: [given] }) }] };
    const id = given ?? session.id;
    if (id === undefined && !context.identified)
      return { session, effects: [{ type: "failure", cause: "notIdentified" }] };
    const effects = [...read(bytes, items, context)];
    if (given !== undefined && given !== session.id) effects.unshift({ type: "identify", ids: [given] });
    if (wantsAnswer(bytes) && !effects.some((effect) => effect.type === "reply"))
      effects.push({ type: "reply", bytes: acknowledgement(bytes), when });
    return { session: { id }, effects };
  };
}

/** The response "success" with the message's sequence ID (EV-07B 1.2, 2). */
function acknowledgement(bytes: Uint8Array): Uint8Array {
  return seal(Uint8Array.of(codes.response, 1, 0), sequenceOf(bytes));
}

/** What a device asks for: the place of its cells (0x11), which the server does not know, and the time (0x12). */
const readServices: Read = (bytes, items, { receivedAt }) => {
  const effects = readData(
    bytes,
    items.filter(({ key }) => key !== 0x11 && key !== 0x12),
  );
  const body = new Writer().u8(codes.services);
  for (const { key } of items) {
    if (key === 0x11) body.u8(10).u8(key).u32(0).u32(0).u8(0);
    if (key === 0x12)
      body
        .u8(5)
        .u8(key)
        .u32le(Math.floor(receivedAt / 1000));
  }
  if (body.length === 1 || !wantsAnswer(bytes)) return effects;
  const when = effects.every(({ type }) => type === "ignored") ? "identified" : "stored";
  return [...effects, { type: "reply", bytes: seal(body.done(), sequenceOf(bytes)), when }];
};

const configuration: Read = (bytes, items) => {
  const report = readConfiguration(bytes, items);
  return [
    readingsOrNothing(report, "no configuration"),
    { type: "commandResult", text: configurationName, to: configurationName, ok: true },
  ];
};

/** The answer to a text: its kind, and text. */
const readSystem: Read = (bytes, items) => {
  const answers = items.flatMap(({ key, from, to }): readonly Effect[] => {
    if (key !== textKey || to - from < 1) return [];
    return [{ type: "commandResult", text: textOf(new Reader(bytes, from + 1, to)), to: "text" }];
  });
  return answers.length > 0 ? answers : [{ type: "ignored", reason: "no answer to a text" }];
};

/** Success (0) or a failure's code (EV-07B 1.2, response command). */
const readResponse: Read = (bytes, [item]) => {
  if (item === undefined) return [{ type: "ignored", reason: "no code" }];
  const to = sequenceOf(bytes);
  return [{ type: "commandResult", text: String(item.key), ok: item.key === 0, ...(to > 0 && { to: String(to) }) }];
};

/** Eview's trackers for people and pets, which others sell as MiniFinder: binary messages of keys and values. */
export const minifinder2 = defineProtocol<MiniFinder2Session>({
  id: "minifinder2",
  title: "Eview EV-04, EV-05, EV-07B, EV-201 (MiniFinder)",
  transports: ["tcp"],
  defaultPort: 5187,
  manuals: [
    { title: "EV-07B Protocol", version: "v1.2" },
    { title: "Eview Pet Tracker Communication Protocol", version: "V20230506" },
  ],
  detect,
  framer,
  session: initialSession,
  classify: commandOf,
  messages: [
    { name: "0x01, data", keys: [codes.data], handle: handler(readData, dataId, "stored") },
    {
      name: "0x02, configuration",
      keys: [codes.configuration],
      handle: handler(configuration, configurationId, "stored"),
    },
    { name: "0x03, services", keys: [codes.services], handle: handler(readServices, dataId, "identified") },
    { name: "0x04, system control", keys: [codes.system], handle: handler(readSystem, dataId, "identified") },
    {
      name: "0x7E, firmware",
      keys: [codes.firmware],
      handle: handler(() => [{ type: "ignored", reason: "part of a firmware update" }], dataId, "identified"),
    },
    { name: "0x7F, response", keys: [codes.response], handle: handler(readResponse, dataId, "identified") },
  ],
  commands: [command],
  expects,
  simulate,
});
