import { defineProtocol } from "../../wire/protocol.ts";
import { alarmRows } from "./alarm.ts";
import { cloneRows } from "./clones.ts";
import { expects, serverCommand } from "./command.ts";
import { classify } from "./envelope.ts";
import { eventRows } from "./event.ts";
import { detect, framer } from "./framer.ts";
import { heartbeatRows } from "./heartbeat.ts";
import { informationRows } from "./information.ts";
import { lbsRows } from "./lbs.ts";
import { locationRows } from "./location.ts";
import { loginRows } from "./login.ts";
import { modularRows } from "./modular.ts";
import { otherRows } from "./other.ts";
import { peripheralRows } from "./peripheral.ts";
import { initial, type Session } from "./session.ts";
import { simulate } from "./simulate.ts";
import { textRows } from "./text.ts";
import { topinRows } from "./topin.ts";

/** GT06 of Concox, now Jimi IoT, with its successors and the many clones that extend it each in their own way. */
export const gt06 = defineProtocol<Session>({
  id: "gt06",
  title: "Concox GT06, Jimi IoT and clones",
  transports: ["tcp", "udp"],
  defaultPort: 5023,
  manuals: [
    { title: "GPS Tracker Communication Protocol (GT06)", version: "1.8.1" },
    { title: "GT03A/B Communication Protocol", version: "1.82" },
    { title: "GPS Tracker Communication Protocol (GT06N, GT06F, GT06E ...)", version: "1.1.7" },
    { title: "GPS Tracker Communication Protocol (JM-VL03)", version: "1.1.2" },
    { title: "GPS Tracker Communication Protocol (LL301)", version: "1.0" },
    { title: "Wetrack140 Communication Protocol", version: "1.0.0" },
    { title: "Communication Protocol (3G Car DVR, JC100)", version: "2017-08-30" },
    { title: "ZhongXun Topin Locator Communication Protocol", version: "180612" },
  ],
  detect,
  framer,
  datagram: framer,
  session: initial,
  classify,
  messages: [
    ...topinRows,
    ...cloneRows,
    ...loginRows,
    ...locationRows,
    ...alarmRows,
    ...heartbeatRows,
    ...lbsRows,
    ...informationRows,
    ...textRows,
    ...eventRows,
    ...modularRows,
    ...peripheralRows,
    ...otherRows,
  ],
  notUnderstood: [
    "pieces of a recording (Topin, start bits 0x6868)",
    "name of a recording (Topin, 0x65)",
    "audio file (JM-VL03, 0x8D)",
  ],
  commands: [serverCommand],
  expects,
  simulate,
});
