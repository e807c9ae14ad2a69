import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { plain, records } from "../text.ts";

/** ms between two questions. */
const pause = 1000;

/** `waybeam trace DEVICE`. */
export function addTrace(program: Command, host: Host): void {
  program
    .command("trace")
    .description("follow what a device sends and what becomes of it, until Ctrl-C")
    .argument("<device>", "the device's id")
    .option("--json", "JSON Lines, one message each, as the API gives it")
    .addHelpText("after", examples("waybeam trace 490154203237518"))
    .action((device: string, options: { json?: boolean }, command: Command) => trace(host, device, options, command));
}

async function trace(host: Host, device: string, options: { json?: boolean }, command: Command): Promise<void> {
  const client = await clientFor(host, command);
  const { terminal, interrupted } = host;
  terminal.err(`Following ${plain(device)}. Press Ctrl-C to end.\n`);
  let after = 0;
  try {
    for (;;) {
      const entries = records((await client.device("POST", device, "/trace", { after })).entries);
      for (const entry of entries) {
        if (typeof entry.seq === "number") after = Math.max(after, entry.seq);
        await terminal.out(options.json ? `${JSON.stringify(entry)}\n` : describe(entry));
      }
      await delay(pause, undefined, { signal: interrupted });
    }
  } catch (error) {
    if (!interrupted.aborted) throw error;
  }
}

function describe(entry: Readonly<Record<string, unknown>>): string {
  const { dateTime, protocol, address, connection, message, cut, effects, outcome } = entry;
  const title = [dateTime, protocol, address, connection].map(plain).join("  ");
  const shown = records(effects).map((effect) => `    ${plain(JSON.stringify(effect))}\n`);
  return `${title}\n  ${plain(message)}${cut === true ? " (cut)" : ""}\n${shown.join("")}  ${plain(outcome)}\n`;
}
