import type { Command } from "commander";
import { collectTag, collect as gather } from "../change.ts";
import { about } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import { CliError } from "../exit.ts";
import type { Host } from "../host.ts";
import { inputLines, inputSecret } from "../input.ts";
import { forAll, type Item, nameOf } from "../many.ts";
import { isRecord, plain } from "../text.ts";

interface AddOptions {
  readonly name?: string;
  readonly description?: string;
  readonly phone?: string;
  readonly tag: Readonly<Record<string, string>>;
  readonly protocol: readonly string[];
  readonly network: readonly string[];
  readonly secretFile?: string;
  readonly file?: string;
  readonly json?: boolean;
}

/** `waybeam device add`. */
export function addDeviceAdd(device: Command, host: Host): void {
  device
    .command("add")
    .description("register devices, so that their trackers are let in")
    .argument("[id...]", "what each tracker reports as its identifier: IMEI or other")
    .option("--name <name>", "name; without it the id")
    .option("--description <text>", "description")
    .option("--phone <number>", "phone number of its SIM")
    .option("--tag <key=value>", "a tag; may be repeated", collectTag, {})
    .option("--protocol <id>", "a protocol that its tracker may speak; may be repeated; without it any", gather, [])
    .option("--network <network>", "a network it may come from; may be repeated; without it any", gather, [])
    .option("--secret-file <file>", "file with the password or key that its tracker must bring (- is standard input)")
    .option(
      "--file <file>",
      "devices from a file (- is standard input): a line is an id, or a JSON object of the API's fields",
    )
    .option("--json", "JSON Lines, one added device each, as the API gives it")
    .addHelpText(
      "after",
      examples(
        'waybeam device add 490154203237518 --name "Truck 12" --tag plate=ABC-123',
        "waybeam device add --file ids.txt --tag fleet=north",
        "waybeam device add phone-7 --protocol osmand --network 203.0.113.0/24 --secret-file phone-7.key",
        "jq -c '{id: .imei, name: .plate}' trucks.json | waybeam device add --file -",
      ),
    )
    .action((ids: string[], options: AddOptions, command: Command) => add(host, ids, options, command));
}

async function add(host: Host, ids: readonly string[], options: AddOptions, command: Command): Promise<void> {
  const devices = await collect(host, ids, options);
  const client = await clientFor(host, command);
  await forAll(host, devices, "added", async (device) => {
    const answer = await about(nameOf(device), client.call("POST", "/api/devices", device.body));
    if (options.json) await host.terminal.out(`${JSON.stringify(answer.device)}\n`);
  });
}

type Body = Readonly<Record<string, unknown>> & { readonly id: string };

/** A device to be added: what is sent, and where it came from. */
type NewDevice = Item & { readonly body: object };

async function collect(host: Host, ids: readonly string[], options: AddOptions): Promise<readonly NewDevice[]> {
  const { name, description, phone, tag, file, protocol, network, secretFile } = options;
  const common = {
    ...(description !== undefined && { description }),
    ...(phone !== undefined && { min: phone }),
    ...(name !== undefined && { name }),
    ...(protocol.length > 0 && { protocols: protocol }),
    ...(network.length > 0 && { networks: network }),
    ...(secretFile !== undefined && { secret: await inputSecret(host.terminal, secretFile) }),
  };
  const devices: NewDevice[] = ids.map((id) => ({ id, body: { ...common, id, tags: tag } }));
  if (file !== undefined)
    for await (const { source, body } of readBodies(host, file)) {
      const tags = { ...tag, ...(isRecord(body.tags) ? body.tags : {}) };
      devices.push({ id: body.id, source, body: { ...common, ...body, tags } });
    }
  if (devices.length === 0)
    throw new CliError("usage", "no device given", "Give ids, or --file with one on each line.");
  if (name !== undefined && devices.length > 1)
    throw new CliError("usage", "--name is for one device", "Give names of many as JSON lines of --file.");
  return devices;
}

/**
 * The devices of a file, each with its place. All are read before the first is sent: a file with a mistake adds
 * nothing.
 */
async function* readBodies(host: Host, file: string): AsyncGenerator<{ source: string; body: Body }> {
  let number = 0;
  for await (const line of inputLines(host.terminal, file)) {
    number += 1;
    const text = line.trim();
    const source = `${file === "-" ? "standard input" : file}, line ${number}`;
    const body = bodyOf(text);
    if (body) yield { source, body };
    else if (text !== "") {
      const wrong = `${plain(source)}: not a JSON object with an id: ${plain(text.slice(0, 80))}`;
      throw new CliError("usage", wrong, "Nothing was added; mend the line and try again.");
    }
  }
}

/** What a line says: an id, or an object with one; undefined where neither. */
function bodyOf(text: string): Body | undefined {
  if (!text.startsWith("{")) return text === "" ? undefined : { id: text };
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) && typeof body.id === "string" ? { ...body, id: body.id } : undefined;
  } catch {
    // The same mistake to the user as an object without an id.
    return undefined;
  }
}
