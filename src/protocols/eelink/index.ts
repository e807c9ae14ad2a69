import { defineProtocol } from "../../wire/protocol.ts";
import { detect, framer } from "./framer.ts";
import { command, expects } from "./instruction.ts";
import { newKinds } from "./new.ts";
import { oldKinds } from "./old.ts";
import { classify, type EelinkSession, handleDatagram, handlePackage, initialSession, type Kind } from "./package.ts";
import { simulate } from "./simulate.ts";

const kinds: readonly Kind[] = [...newKinds, ...oldKinds];
const kindOf: ReadonlyMap<number, Kind> = new Map(kinds.map((kind) => [kind.pid, kind]));

/** Trackers of Eelink: TK, GPT, GOT, K30, BTT, and what is sold under other names. */
export const eelink = defineProtocol<EelinkSession>({
  id: "eelink",
  title: "Eelink",
  transports: ["tcp", "udp"],
  defaultPort: 5064,
  manuals: [
    { title: "EELINK Terminal Communication Protocol, Second Edition", version: "V1.8.4" },
    { title: "EELINK Device Protocol", version: "V2.0, V2.2" },
  ],
  detect,
  framer,
  session: initialSession,
  classify,
  messages: [
    ...kinds.map((kind) => ({ name: kind.name, keys: [kind.pid], handle: handlePackage(kind) })),
    { name: "packages of a datagram", keys: ["EL"], handle: handleDatagram(kindOf) },
  ],
  commands: [command],
  expects,
  simulate,
});
