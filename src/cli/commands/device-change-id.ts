import type { Command } from "commander";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { printOne, tellWarnings } from "../print.ts";
import { isRecord } from "../text.ts";

/** `waybeam device change-id`. */
export function addDeviceChangeId(device: Command, host: Host): void {
  device
    .command("change-id")
    .description("give a device the id of another tracker; its history, alerts, commands and rules stay")
    .argument("<id>", "the device")
    .argument("<new-id>", "what its new tracker reports as its identifier: IMEI or other")
    .option("--json", "the changed device as JSON, as the API gives it")
    .addHelpText("after", examples("waybeam device change-id 490154203237518 490154203237526"))
    .action(async (id: string, newId: string, options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const answer = await client.device("POST", id, "/changeId", { id: newId });
      tellWarnings(host, answer);
      await printOne(host, isRecord(answer.device) ? answer.device : {}, options.json);
    });
}
