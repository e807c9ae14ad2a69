import Type from "typebox";
import { ownPortsOf } from "../model/own-ports.ts";
import { optionalText } from "./kinds.ts";

/** Ports that speak one protocol each. */
export const devicePorts = Type.Refine(
  optionalText({
    env: "WAYBEAM_DEVICE_PORTS",
    example: "protocols and ports like teltonika=5027, gt06=5023, each once",
    description:
      "Further ports that speak one protocol each, over TCP, UDP and HTTP as the protocol has it. `device.port` speaks all protocols, so they are needed only for trackers whose port can't be changed, or where a firewall is to tell trackers apart. Unset: none.",
  }),
  (text) => ownPortsOf(text) !== undefined,
);
