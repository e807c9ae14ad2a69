import { defineProtocol } from "../../wire/protocol.ts";
import { answerKey, answerRows } from "./answers.ts";
import { ccRows } from "./cc.ts";
import { command, expects } from "./command.ts";
import { detect, framer, headOf } from "./frames.ts";
import { initialSession, keyOf, type Session } from "./row.ts";
import { scRows } from "./sc.ts";
import { simulate } from "./simulate.ts";

function classify(bytes: Uint8Array): number | string | undefined {
  const head = headOf(bytes);
  return head && answerKey(keyOf(head.family, head.type));
}

/** OBD trackers of Sinocastel (IDD-213, IDD-218, D-218L), its vehicle trackers (CCTR), and its personal ones (MPIP). */
export const castel = defineProtocol<Session>({
  id: "castel",
  title: "Castel (Sinocastel OBD, CC and MPIP)",
  transports: ["tcp", "udp"],
  defaultPort: 5086,
  manuals: [
    { title: "New OBD Smart communication protocol, CB212-C1005", version: "4.25" },
    { title: "OBD Smart communication samples", version: "4.28" },
  ],
  detect,
  framer,
  datagram: framer,
  session: initialSession,
  classify,
  messages: [...scRows, ...ccRows, ...answerRows],
  commands: [command],
  expects,
  simulate,
});
