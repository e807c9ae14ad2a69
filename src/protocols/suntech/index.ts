import { type Certainty, defineProtocol, type MessageKey, type MessageRow } from "../../wire/protocol.ts";
import { bcdText, latin1Of } from "../../wire/reader.ts";
import { command, expects } from "./command.ts";
import { crash } from "./crash.ts";
import { framer } from "./framer.ts";
import { alert, emergency, event, external, status, travel } from "./legacy.ts";
import { batteryTracker, location, personalAlarm } from "./others.ts";
import { keepAlive, legacyReply, universalReply } from "./replies.ts";
import { endOf, headerOf, headOf } from "./sentence.ts";
import { type Handler, initialSession, type SuntechSession } from "./session.ts";
import { simulate } from "./simulate.ts";
import { beacons, sensors, universalAlert, universalExternal, universalStatus, universalTravel } from "./universal.ts";
import {
  legacyZip,
  universalZip,
  universalZipAlert,
  universalZipKeepAlive,
  universalZipStatus,
  zipAlert,
  zipEmergency,
  zipEvent,
  zipExternal,
  zipStatus,
} from "./zip.ts";

const stx = 0x02;

/** Headers of the universal format. */
const universalTypes: ReadonlySet<string> = new Set(["STT", "ALT", "ALV", "UEX", "RES", "BLE", "BSA", "TRV", "CRR"]);

function row(name: string, keys: readonly MessageKey[], handle: Handler): MessageRow<SuntechSession> {
  return { name, keys, handle };
}

const messages: readonly MessageRow<SuntechSession>[] = [
  row("STT, status report", ["legacy STT"], status),
  row("EMG, emergency report", ["legacy EMG"], emergency),
  row("EVT, event report", ["legacy EVT"], event),
  row("ALT, alert report", ["legacy ALT"], alert),
  row("UEX, data of an external device", ["legacy UEX"], external),
  row("HTE, travel event report", ["legacy HTE"], travel),
  row("ALV, keep-alive", ["legacy ALV", "ST4 ALV", "ALV"], keepAlive),
  row("Res, answer to a command", ["Res"], legacyReply),
  row("ST4xx, report of a battery tracker", ["ST4 STT", "ST4 ALT", "ST4 EMG", "ST4 EVT"], batteryTracker),
  row("ST9xx, Location", ["Location"], location),
  row("ST9xx, Emergency and Alert", ["Emergency", "Alert"], personalAlarm),
  row("universal STT, status report", ["STT"], universalStatus),
  row("universal ALT, alert report", ["ALT"], universalAlert),
  row("universal UEX, data of an external device", ["UEX"], universalExternal),
  row("universal BLE, beacons", ["BLE"], beacons),
  row("universal BSA, sensors", ["BSA"], sensors),
  row("universal TRV, travel report", ["TRV"], universalTravel),
  row("universal CRR, crash report", ["CRR"], crash),
  row("universal RES, answer to a command", ["RES"], universalReply),
  row("zip, status report", [legacyZip.status], zipStatus),
  row("zip, emergency report", [legacyZip.emergency], zipEmergency),
  row("zip, event report", [legacyZip.event], zipEvent),
  row("zip, alert report", [legacyZip.alert], zipAlert),
  row("zip, data of an external device", [legacyZip.external], zipExternal),
  row("universal zip, status report", [universalZip.status], universalZipStatus),
  row("universal zip, alert report", [universalZip.alert], universalZipAlert),
  row("universal zip, keep-alive", [universalZip.keepAlive], universalZipKeepAlive),
  row("error", ["error"], (_, session) => ({
    session,
    effects: [{ type: "ignored", reason: "an error that names no command" }],
  })),
];

function classify(frame: Uint8Array): MessageKey | undefined {
  const first = frame[0] ?? 0;
  if (first === stx) return frame[3];
  if (first > 0x7f) return first;
  if (first === 0x2d) return "error";
  const header = headerOf(headOf(frame));
  if (header === undefined) return undefined;
  const second = secondOf(frame);
  if (header.type === "" || second === "Res") return second;
  if (header.product === "") return header.type;
  return `${/^ST4\d\d$/.test(header.product) ? "ST4" : "legacy"} ${header.type}`;
}

/** The second field, of at most twelve characters. */
function secondOf(frame: Uint8Array): string {
  const from = frame.indexOf(0x3b) + 1;
  const to = from === 0 ? -1 : frame.indexOf(0x3b, from);
  const end = to < 0 ? endOf(frame) : to;
  return from > 0 && end - from <= 12 ? latin1Of(frame.subarray(from, end)) : "";
}

function detect(bytes: Uint8Array): Certainty {
  const first = bytes[0] ?? 0;
  if (first === stx || (first >= 0x81 && first <= 0x83)) return detectZip(bytes, first);
  const text = latin1Of(bytes.subarray(0, 14));
  if (/^(?:S[AT]\d{3,4}[A-Z]?(?:[A-Z]{3})?;)/.test(text)) return "sure";
  const type = text.slice(0, 3);
  if (text.length > 3) {
    if (universalTypes.has(type) && text[3] === ";")
      return /^[0-9A-Z]{6}/.test(text.slice(4)) ? "sure" : begun(text.slice(4));
    return /^S[AT]\d{1,4}[A-Z]{0,4}$/.test(text) ? "maybe" : "no";
  }
  for (const known of universalTypes) if (known.startsWith(text)) return "maybe";
  return /^S[AT]?\d?$/.test(text) ? "maybe" : "no";
}

/** The first digits of an identifier. */
function begun(text: string): Certainty {
  return /^[0-9A-Z]*$/.test(text) ? "maybe" : "no";
}

/** Length, of the legacy form the report's header, and the identifier in BCD. */
function detectZip(bytes: Uint8Array, first: number): Certainty {
  if (bytes.length > 1 && (bytes[1] ?? 0) > 3) return "no";
  const idAt = first === stx ? 4 : 3;
  if (first === stx && bytes.length > 3 && ((bytes[3] ?? 0) < 0x10 || (bytes[3] ?? 0) > 0x1f)) return "no";
  const id = bytes.subarray(idAt, idAt + 5);
  if (bcdText(id) === undefined) return "no";
  return id.length === 5 ? "sure" : "maybe";
}

/** Suntech's trackers: texts `ST300STT;...`, the universal format `STT;...`, and both as zip. */
export const suntech = defineProtocol({
  id: "suntech",
  title: "Suntech",
  transports: ["tcp", "udp"],
  defaultPort: 5011,
  manuals: [
    { title: "ST300/340 Operation Manual, LATAM", version: "1.41" },
    { title: "ST310U Operation Manual", version: "1.08" },
    { title: "Suntech Messages to Back-End Server (Universal Reporting Guide)", version: "1.62" },
  ],
  detect,
  framer,
  session: initialSession,
  classify,
  messages,
  notUnderstood: ["zip, travel event report (6-5-2)"],
  commands: [command],
  expects,
  simulate,
});
