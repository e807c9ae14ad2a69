import { defineProtocol, type MessageKey } from "../../wire/protocol.ts";
import { command, expects } from "./command.ts";
import { detect, framer, isLock } from "./framer.ts";
import { lockPosition } from "./lock.ts";
import { lockEvent } from "./lock-event.ts";
import { otherPeripheral, peripheral } from "./peripheral.ts";
import { answer, dynamicPassword, heartbeat, journey, position, timeRequest, w01 } from "./reports.ts";
import { keyOf } from "./sentence.ts";
import { initialSession, type Jt600Session } from "./session.ts";
import { simulate } from "./simulate.ts";
import { readPersonal, readTanks, readUnknown, readVehicle, recordsHandler } from "./vehicle.ts";

const dollar = 0x24;

/** Binary messages by their kind of tracker, sentences by their word. */
function classify(frame: Uint8Array): MessageKey {
  if (frame[0] !== dollar) return keyOf(frame);
  if (isLock(frame)) return "lock";
  const kind = (frame[6] ?? 0) >> 4;
  return kind >= 1 && kind <= 3 ? kind : 0;
}

/** Jointech's personal trackers (JT600), vehicle trackers (GP4000, GP6000) and locks (JT700, JT701, GL600). */
export const jt600 = defineProtocol<Jt600Session>({
  id: "jt600",
  title: "Jointech JT600, JT701, GP6000",
  transports: ["tcp"],
  defaultPort: 5014,
  manuals: [
    { title: "JT600 Protocol", version: "1.8" },
    { title: "The Protocol of JT701 Product", version: "3.6" },
    { title: "JT126 Temperature Sensor / JT709 Sub Lock / JT802 Valve Lock Integration Manual", version: "1.7.1" },
  ],
  detect,
  framer,
  session: initialSession,
  classify,
  messages: [
    { name: "$, position of a lock", keys: ["lock"], handle: lockPosition },
    { name: "$, type 1, personal tracker", keys: [1], handle: recordsHandler(readPersonal) },
    { name: "$, type 2, vehicle tracker", keys: [2], handle: recordsHandler(readVehicle) },
    { name: "$, type 3, several tanks", keys: [3], handle: recordsHandler(readTanks) },
    { name: "$, other types", keys: [0], handle: recordsHandler(readUnknown) },
    { name: "U01, U02, U03, U06, position and alarm", keys: ["position"], handle: position },
    { name: "U04, heartbeat", keys: ["U04"], handle: heartbeat },
    { name: "U09, journey", keys: ["U09"], handle: journey },
    { name: "W01, position", keys: ["W01"], handle: w01 },
    { name: "@JT, heartbeat", keys: ["@JT"], handle: heartbeat },
    { name: "P22, time request", keys: ["P22"], handle: timeRequest },
    { name: "P45, locked or unlocked", keys: ["P45"], handle: lockEvent },
    { name: "P52, dynamic password", keys: ["P52"], handle: dynamicPassword },
    { name: "WLNET,5, sensor or lock near by", keys: ["WLNET,5"], handle: peripheral },
    { name: "WLNET,7, other data of a peripheral", keys: ["WLNET,7"], handle: otherPeripheral },
    { name: "answer to a command", keys: ["answer"], handle: answer },
  ],
  commands: [command],
  expects,
  simulate,
});
