import { setTimeout as delay } from "node:timers/promises";
import { type Command, InvalidArgumentError } from "commander";
import type { Answer, ApiClient } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import { CliError } from "../exit.ts";
import type { Host } from "../host.ts";
import { parsePageLimit } from "../limit.ts";
import { listIn, payloadOf, printLines } from "../print.ts";
import { plain, table } from "../text.ts";

/** ms between two looks at a record. */
const pause = 1000;
/** Records that one look asks for: the command is among the newest. */
const looked = 100;

interface SendOptions {
  readonly hex?: boolean;
  readonly base64?: boolean;
  readonly encode?: boolean;
  readonly sms?: boolean;
  readonly ttl?: number;
  readonly wait?: boolean;
  readonly json?: boolean;
}

/** `waybeam command ...`: commands to devices and what became of them. */
export function addCommand(program: Command, host: Host): void {
  const command = program.command("command").description("send commands to devices, list and cancel them");
  addSend(command, host);
  addList(command, host);
  addCancel(command, host);
}

function addSend(parent: Command, host: Host): void {
  parent
    .command("send")
    .description("send a command to a device, and print its reply or what became of the command")
    .argument("<device>", "the device's id")
    .argument("<text>", "the command: sent as UTF-8, exactly as given")
    .option("--hex", "the text is hexadecimal bytes")
    .option("--base64", "the text is Base64")
    .option("--encode", "the device's protocol wraps the text as its manual says")
    .option("--sms", "by SMS, rather than over the data connection")
    .option(
      "--ttl <seconds>",
      "how long it may wait for the device to connect; 0: not at all (default: a day)",
      parseTtl,
    )
    .option("--wait", "wait until it is sent and answered; by SMS: delivered")
    .option("--json", "JSON: with --wait the record, else the answer, as the API gives it")
    .addHelpText(
      "after",
      examples(
        "waybeam command send 490154203237518 RELAY,1# --encode",
        'waybeam command send 490154203237518 "78 78 05 13 00 01" --hex --ttl 0',
        "waybeam command send 490154203237518 begin123456 --sms --wait",
      ),
    )
    .action((device: string, text: string, options: SendOptions, command: Command) =>
      send(host, device, text, options, command),
    );
}

async function send(host: Host, device: string, text: string, options: SendOptions, command: Command): Promise<void> {
  const { hex, base64, encode, sms, ttl, wait, json } = options;
  if (hex && base64) throw new CliError("usage", "--hex and --base64 exclude each other");
  const body = {
    command: text,
    ...((hex || base64) && { format: hex ? "Hex" : "Base64" }),
    ...(encode && { encode }),
    ...(sms && { sms }),
    ...(ttl !== undefined && { ttlSeconds: ttl }),
  };
  const client = await clientFor(host, command);
  const answer = await client.device("POST", device, "/sendCommand", body);
  if (!wait) return host.terminal.out(json ? `${JSON.stringify(payloadOf(answer))}\n` : `${plain(answer.result)}\n`);
  const record = await follow(host, client, device, answer);
  await host.terminal.out(json ? `${JSON.stringify(record)}\n` : `${plain(record.reply ?? record.state)}\n`);
  const { state, failure } = record;
  if (state === "failed" || state === "expired" || state === "cancelled")
    throw new CliError("failure", `the command was not carried out: ${plain(failure ?? state)}`);
}

/** Waits until nothing more is to be expected of a command. */
async function follow(host: Host, client: ApiClient, device: string, { commandId, result }: Answer): Promise<Answer> {
  for (let first = true; ; first = false) {
    const records = listIn(await client.device("GET", device, `/commands?limit=${looked}`), "commands");
    const record = records.find(({ id }) => id === commandId);
    if (record === undefined) throw new CliError("notFound", "the command's record is not among the newest any more");
    if (record.state !== "queued" && !(record.state === "sent" && record.channel === "sms")) return record;
    if (first) host.terminal.err(`${plain(result)}\n`);
    await delay(pause, undefined, { signal: host.interrupted });
  }
}

function addList(parent: Command, host: Host): void {
  const { terminal } = host;
  parent
    .command("list")
    .description("list a device's commands and what became of them, the newest first")
    .argument("<device>", "the device's id")
    .option("--limit <count>", "how many commands at most", parsePageLimit, 20)
    .option("--json", "JSON Lines, one command each, as the API gives it")
    .addHelpText("after", examples("waybeam command list 490154203237518"))
    .action(async (device: string, options: { json?: boolean; limit: number }, command: Command) => {
      const client = await clientFor(host, command);
      const answer = await client.device("GET", device, `/commands?limit=${options.limit}`);
      const commands = listIn(answer, "commands");
      if (options.json) return printLines(host, commands);
      const rows = commands.map(({ id, creation, state, channel, user, command: text, reply, failure }) =>
        [id, creation, state, channel, user, text, reply ?? failure].map(plain),
      );
      await terminal.out(table(["ID", "TIME", "STATE", "BY", "USER", "COMMAND", "REPLY"], rows));
      if (rows.length === 0) terminal.err("There is no command yet. `waybeam command send` sends one.\n");
      else if (answer.nextCursor !== undefined) terminal.err("There are older commands. Give --limit to see more.\n");
    });
}

function addCancel(parent: Command, host: Host): void {
  parent
    .command("cancel")
    .description("cancel a command that still waits for its device")
    .argument("<device>", "the device's id")
    .argument("<id>", "the command's id")
    .addHelpText("after", examples("waybeam command cancel 490154203237518 019ab2f0-3c5e-7d11-8a52-5f0c2f6f7b10"))
    .action(async (device: string, id: string, _options: object, command: Command) => {
      const client = await clientFor(host, command);
      await client.device("DELETE", device, `/commands/${encodeURIComponent(id)}`);
      host.terminal.err(`cancelled ${plain(id)}\n`);
    });
}

function parseTtl(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number of seconds.");
}
