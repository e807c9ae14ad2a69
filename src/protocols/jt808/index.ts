import { defineProtocol } from "../../wire/protocol.ts";
import { expects, platformMessage } from "./command.ts";
import { driverRows } from "./driver.ts";
import { classify } from "./envelope.ts";
import { detect, framer } from "./framer.ts";
import { messageRows, otherRow } from "./messages.ts";
import { reportRows } from "./reports.ts";
import { initial, type Session } from "./row.ts";
import { simulate } from "./simulate.ts";
import { transparentRows } from "./transparent.ts";

/**
 * Terminals by China's standard JT/T 808, and the many trackers that extend it: Huabao, Boshijie, AOVX, Jimi, Jointech
 * ...
 */
export const jt808 = defineProtocol<Session>({
  id: "jt808",
  title: "JT/T 808 (2011, 2013, 2019) and its extensions",
  transports: ["tcp", "udp"],
  defaultPort: 5015,
  manuals: [
    { title: "JT/T 808 Terminal communication protocol and data format", version: "2011" },
    { title: "JT/T 808 Terminal communication protocol and data format", version: "2013" },
    { title: "JT/T 808 Terminal communication protocol and data format", version: "2019" },
    { title: "JT/T 1078 Video communication protocol", version: "2016" },
    { title: "General JT/T808 Protocol (Huabao)", version: "1.1" },
  ],
  detect,
  framer,
  datagram: framer,
  session: initial,
  classify,
  messages: [...reportRows, ...driverRows, ...transparentRows, ...messageRows, otherRow],
  commands: [platformMessage],
  expects,
  simulate,
});
