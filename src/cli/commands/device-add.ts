import type { Command } from "commander";
import { collectTag } from "../change.ts";
import { ApiFailure } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import { CliError, type ExitName } from "../exit.ts";
import type { Host } from "../host.ts";
import { inputLines } from "../input.ts";
import { inParallel } from "../parallel.ts";
import { Progress } from "../progress.ts";
import { isRecord, plain } from "../text.ts";

interface AddOptions {
  readonly name?: string;
  readonly description?: string;
  readonly phone?: string;
  readonly tag: Readonly<Record<string, string>>;
  readonly file?: string;
  readonly json?: boolean;
}

/** Requests at a time when many devices are added. */
const parallel = 8;

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
        "jq -c '{id: .imei, name: .plate}' trucks.json | waybeam device add --file -",
      ),
    )
    .action((ids: string[], options: AddOptions, command: Command) => add(host, ids, options, command));
}

async function add(host: Host, ids: readonly string[], options: AddOptions, command: Command): Promise<void> {
  const bodies = await collect(host, ids, options);
  const client = await clientFor(host, command);
  const progress = new Progress(host);
  const failures: ApiFailure[] = [];
  let done = 0;
  await inParallel(parallel, bodies, async (body) => {
    try {
      const answer = await client.call("POST", "/api/devices", body);
      if (options.json) await host.terminal.out(`${JSON.stringify(answer.device)}\n`);
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.exit === "denied") throw error;
      failures.push(error);
      progress.end();
      host.terminal.err(`${plain(body.id)}: ${error.message}\n`);
    }
    done += 1;
    if (bodies.length > parallel) progress.show(() => `${done} of ${bodies.length} devices`);
  });
  progress.end();
  const added = bodies.length - failures.length;
  host.terminal.err(`${added} added${failures.length > 0 ? `, ${failures.length} not` : ""}\n`);
  const [first] = failures;
  if (first) throw new CliError(exitOf(failures), `${failures.length} of ${bodies.length} devices were not added`);
}

/** The failures' own exit where all have the same, otherwise the general one. */
function exitOf(failures: readonly ApiFailure[]): ExitName {
  const kinds = new Set(failures.map(({ exit }) => exit));
  const [kind] = kinds;
  return kinds.size === 1 && kind !== undefined ? kind : "failure";
}

type Body = Readonly<Record<string, unknown>>;

async function collect(host: Host, ids: readonly string[], options: AddOptions): Promise<readonly Body[]> {
  const { name, description, phone, tag, file } = options;
  const common = {
    ...(description !== undefined && { description }),
    ...(phone !== undefined && { min: phone }),
    ...(name !== undefined && { name }),
  };
  const bodies: Body[] = ids.map((id) => ({ ...common, id, tags: tag }));
  if (file !== undefined)
    for await (const line of inputLines(host.terminal, file)) {
      const body = line.trim() === "" ? undefined : bodyOf(line.trim());
      if (body) bodies.push({ ...common, ...body, tags: { ...tag, ...(isRecord(body.tags) ? body.tags : {}) } });
    }
  if (bodies.length === 0) throw new CliError("usage", "no device given", "Give ids, or --file with one on each line.");
  if (name !== undefined && bodies.length > 1)
    throw new CliError("usage", "--name is for one device", "Give names of many as JSON lines of --file.");
  return bodies;
}

function bodyOf(line: string): Body {
  if (!line.startsWith("{")) return { id: line };
  try {
    const body: unknown = JSON.parse(line);
    if (isRecord(body) && typeof body.id === "string") return body;
  } catch {
    // Said below: it is the same mistake to the user.
  }
  throw new CliError("usage", `not a JSON object with an id: ${plain(line.slice(0, 80))}`);
}
