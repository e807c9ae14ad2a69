import { defineProtocol } from "../../wire/protocol.ts";
import { command, expects } from "./command.ts";
import { beginsEnvelope } from "./envelope.ts";
import { framer } from "./framer.ts";
import { classify, initialSession, rows } from "./rows.ts";
import { simulate } from "./simulate.ts";

/** Watches of children and of elderly people, SeTracker and its relatives: `[3G*8800000015*0002*LK]`. */
export const watch = defineProtocol({
  id: "watch",
  title: "Watch (SeTracker, Beesure)",
  transports: ["tcp"],
  defaultPort: 8001,
  manuals: [
    { title: "Beesure GPS SeTracker Server Protocol", version: "2025-08-02" },
    { title: "Communication protocol of watches (LK, UD, UD2, AL, WAD, WG, TKQ)" },
  ],
  detect: beginsEnvelope,
  framer,
  session: initialSession,
  classify,
  messages: rows,
  notUnderstood: ["WIFIINFOUP, changed Wi-Fi settings"],
  commands: [command],
  expects,
  simulate,
});
