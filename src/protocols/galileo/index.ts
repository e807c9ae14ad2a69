import type { Effect } from "../../model/effects.ts";
import { type DecodeContext, type Decoded, defineProtocol, type MessageRow } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { command, expects } from "./command.ts";
import { compressed, data, defect, detect, framer, isIridium, photo } from "./frames.ts";
import { readCompressed, readIridium, readRecords } from "./packets.ts";
import { effectOf, type TagRecord } from "./record.ts";
import { simulate } from "./simulate.ts";

/** Nothing of a connection needs to be remembered: the gateway knows its device. */
type Session = Readonly<Record<string, never>>;
const session: Session = Object.freeze({});

/** Header and length before a packet's tags, and the checksum behind them. */
const head = 3;
const tail = 2;

/**
 * The first byte of a confirmation, behind which the packet's own checksum comes back: for data 0x02, for a photo 0x07.
 */
const confirmation = 0x02;

function confirmed(first: number, packet: Uint8Array): Effect {
  const bytes = Uint8Array.of(first, packet[packet.length - 2] ?? 0, packet[packet.length - 1] ?? 0);
  return { type: "reply", bytes, when: "stored" };
}

/** A row for packets of records: the IMEI, where they have it, stands in the first. */
function recordsRow(
  name: string,
  key: string,
  read: (reader: Reader, receivedAt: number) => readonly TagRecord[],
): MessageRow<Session> {
  return {
    name,
    keys: [key],
    handle(packet, _, context): Decoded<Session> {
      const found = defect(packet);
      if (found === "malformed") return only([{ type: "failure", cause: found }]);
      if (found === "badChecksum" && context.options.checksums !== "ignore") return only([badChecksum(packet)]);
      const list = read(new Reader(packet, head, packet.length - tail), context.receivedAt);
      const imei = list.find((record) => record.imei !== undefined)?.imei;
      if (!isKnown(imei, context)) return only([{ type: "failure", cause: "notIdentified" }]);
      return only([
        ...(imei === undefined ? [] : [{ type: "identify", ids: [imei] } as const]),
        ...list.map(effectOf),
        confirmed(confirmation, packet),
      ]);
    },
  };
}

function isKnown(imei: string | undefined, { identified }: DecodeContext): boolean {
  return imei === undefined ? identified : /^[0-9A-Za-z]{15}$/.test(imei);
}

function only(effects: readonly Effect[]): Decoded<Session> {
  return { session, effects };
}

/** With the IMEI where it stands at its place behind the versions, so that the device's tag can be asked for. */
function badChecksum(packet: Uint8Array): Effect {
  let at = head;
  while (packet[at] === 0x01 || packet[at] === 0x02) at += 2;
  const imei = String.fromCharCode(...packet.subarray(at + 1, at + 16));
  const ids = packet[at] === 0x03 && /^\d{15}$/.test(imei) ? { ids: [imei] } : {};
  return { type: "failure", cause: "badChecksum", ...ids };
}

const photoRow: MessageRow<Session> = {
  name: "photo",
  keys: ["photo"],
  handle(packet, _, { identified, options }) {
    const found = defect(packet);
    if (found === "malformed") return only([{ type: "failure", cause: found }]);
    if (found === "badChecksum" && options.checksums !== "ignore") return only([{ type: "failure", cause: found }]);
    if (!identified) return only([{ type: "failure", cause: "notIdentified" }]);
    return only([{ type: "ignored", reason: "a part of a photo" }, confirmed(photo, packet)]);
  },
};

function classify(packet: Uint8Array): string | undefined {
  if (packet[0] === data) return isIridium(packet) ? "iridium" : "data";
  if (packet[0] === photo) return "photo";
  return packet[0] === compressed ? "compressed" : undefined;
}

/** Terminals of Galileosky: GLONASS/GPS, Base Block, 7.0, 7x, 10, Satellite. */
export const galileo = defineProtocol<Session>({
  id: "galileo",
  title: "Galileosky",
  transports: ["tcp"],
  defaultPort: 5034,
  manuals: [
    { title: "GALILEOSKY GLONASS/GPS Satellite v4.0: user's manual, GALILEOSKY protocol", version: "0223" },
    { title: "Iridium Short Burst Data Service: Direct IP" },
  ],
  detect,
  framer,
  session,
  classify,
  messages: [
    recordsRow("head packet, main packet", "data", readRecords),
    recordsRow("compressed packet", "compressed", readCompressed),
    photoRow,
    {
      name: "message of Iridium",
      keys: ["iridium"],
      handle: (packet, _, { receivedAt }) => only(readIridium(packet, receivedAt)),
    },
  ],
  commands: [command],
  expects,
  simulate,
});
