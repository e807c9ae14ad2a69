import { type Certainty, defineProtocol } from "../../wire/protocol.ts";
import { command } from "./command.ts";
import { framer, isFirst } from "./framer.ts";
import { headLength, initialSession, type T800xSession } from "./packet.ts";
import { classify, rows } from "./rows.ts";
import { simulate } from "./simulate.ts";

const keys: ReadonlySet<unknown> = new Set(rows.flatMap((row) => row.keys ?? []));
/** No message that a connection begins with is longer. */
const longest = 1024;

/** The header twice, a known type, a length, and behind the serial number an IMEI in BCD with a 0 in front. */
function detect(bytes: Uint8Array): Certainty {
  const [first, second, type, high = 0, low = 0] = bytes;
  if (!isFirst(first) || (second ?? first) !== first) return "no";
  if (type !== undefined && !keys.has(((first ?? 0) << 8) | type)) return "no";
  if (bytes.length < 5) return "maybe";
  const length = high * 256 + low;
  if (length < headLength || length > longest) return "no";
  const imei = bytes.subarray(7, headLength).toHex();
  if (!/^(?:0\d*)?$/.test(imei)) return "no";
  return bytes.length < headLength ? "maybe" : "sure";
}

/** Devices of Topflytech: T8801 to T8806, TLW, TLD, TLP, PioneerX, SolarX, KnightX. */
export const t800x = defineProtocol<T800xSession>({
  id: "t800x",
  title: "Topflytech (T88xx, TLW, TLD, TLP, SolarX)",
  transports: ["tcp", "udp"],
  defaultPort: 5094,
  manuals: [
    { title: "TOPFLYTECH 0x25 0x25 Protocol (TLW1, TLW2, TLD1, TLD2-L, PioneerX)", version: "2023-09-21" },
    { title: "TOPFLYTECH 0x26 0x26 Protocol (TLD1-DA/DE, TLD2-D)", version: "2021-03-18" },
    { title: "TOPFLYTECH 0x27 0x27 Protocol (TLP1, TLP2-SFB)", version: "2021-03-18" },
    { title: "TOPFLYtechCodec, the vendor's own library" },
  ],
  detect,
  framer,
  datagram: framer,
  session: initialSession,
  classify,
  messages: rows,
  notUnderstood: ["0x08: address of the Bluetooth part", "0x28 0x28: voice", "messages sealed with MD5 or AES"],
  commands: [command],
  simulate,
});
