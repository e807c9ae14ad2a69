import { type Command, InvalidArgumentError } from "commander";
import { collect, collectTag, listSteps, patch, setSteps, tagSteps, wholeNumber } from "../change.ts";
import { type Answer, about } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { inputSecret } from "../input.ts";
import { printOne, tellWarnings } from "../print.ts";
import { isRecord } from "../text.ts";

interface SetOptions {
  readonly name?: string;
  readonly description?: string;
  readonly phone?: string;
  readonly expires?: string;
  readonly mileageStart?: number;
  readonly positionDays?: number;
  readonly timeOffset?: number;
  readonly speedUnit?: string;
  readonly tag: Readonly<Record<string, string>>;
  readonly untag: readonly string[];
  readonly alias: readonly string[];
  readonly removeAlias: readonly string[];
  readonly protocol: readonly string[];
  readonly removeProtocol: readonly string[];
  readonly network: readonly string[];
  readonly removeNetwork: readonly string[];
  readonly secretFile?: string;
  readonly unset: readonly string[];
  readonly json?: boolean;
}

/** `waybeam device set`. */
export function addDeviceSet(device: Command, host: Host): void {
  device
    .command("set")
    .description("change devices")
    .argument("<id...>", "devices")
    .option("--name <name>", "name")
    .option("--description <text>", "description")
    .option("--phone <number>", "phone number of its SIM")
    .option("--expires <time>", "from then on its data is refused and it uses no licence: RFC 3339")
    .option("--mileage-start <km>", "where its mileage starts, km", kilometres)
    .option(
      "--position-days <days>",
      "how many days its positions are kept, in place of its account's days; older ones are deleted for good",
      wholeNumber,
    )
    .option(
      "--time-offset <seconds>",
      "what its clock is ahead of UTC; it is taken off the times of new reports",
      seconds,
    )
    .option("--speed-unit <unit>", "what its numbers of speed mean: kn, m/s or km/h")
    .option("--tag <key=value>", "a tag; may be repeated", collectTag, {})
    .option("--untag <key>", "a tag to remove; may be repeated", collect, [])
    .option("--alias <id>", "another identifier that the tracker may report; may be repeated", collect, [])
    .option("--remove-alias <id>", "an alias to take out; may be repeated", collect, [])
    .option("--protocol <id>", "a protocol that its tracker may speak; may be repeated", collect, [])
    .option("--remove-protocol <id>", "a protocol to take out; may be repeated", collect, [])
    .option("--network <network>", "a network that its tracker may come from; may be repeated", collect, [])
    .option("--remove-network <network>", "a network to take out; may be repeated", collect, [])
    .option("--secret-file <file>", "file with the password or key that its tracker must bring (- is standard input)")
    .option(
      "--unset <field>",
      "a field of the API to empty, such as expires, networks or secret; may be repeated",
      collect,
      [],
    )
    .option("--json", "JSON Lines, one changed device each, as the API gives it")
    .addHelpText(
      "after",
      examples(
        'waybeam device set 490154203237518 --name "Truck 13" --tag plate=XYZ-789',
        "waybeam device set 490154203237518 490154203237526 --expires 2027-12-31T00:00:00Z",
        "waybeam device set 490154203237518 --unset expires --alias 03237518",
        "waybeam device set 490154203237518 --time-offset 7200",
        "waybeam device set phone-7 --protocol osmand --network 203.0.113.0/24 --secret-file phone-7.key",
      ),
    )
    .action((ids: string[], options: SetOptions, command: Command) => set(host, ids, options, command));
}

async function set(host: Host, ids: readonly string[], options: SetOptions, command: Command): Promise<void> {
  const { name, description, phone, expires, mileageStart, positionDays, unset, alias, removeAlias } = options;
  const { secretFile, timeOffset, speedUnit } = options;
  const client = await clientFor(host, command);
  const secret = secretFile === undefined ? undefined : await inputSecret(host.terminal, secretFile);
  const own = { milleageStart: mileageStart, positionDays, timeOffset, speedUnit, secret };
  const fields = setSteps({ name, description, min: phone, expires, ...own }, unset);
  for (const id of ids) {
    let present: Promise<Answer> | undefined;
    const read = () => {
      present ??= client.device("GET", id).then(deviceIn);
      return present;
    };
    const aliases = await listSteps("aliases", { add: alias, remove: removeAlias }, read);
    const protocols = await listSteps("protocols", { add: options.protocol, remove: options.removeProtocol }, read);
    const networks = await listSteps("networks", { add: options.network, remove: options.removeNetwork }, read);
    const steps = [...fields, ...aliases, ...protocols, ...networks, ...(await tagSteps(options, read))];
    const answer = await about(id, patch(client, `/api/devices/${encodeURIComponent(id)}`, steps));
    tellWarnings(host, answer);
    await printOne(host, deviceIn(answer), options.json);
  }
}

function deviceIn({ device }: Answer): Answer {
  return isRecord(device) ? device : {};
}

function kilometres(text: string): number {
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number of kilometres.");
}

function seconds(text: string): number {
  if (/^-?\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of seconds, such as 7200 or -18000.");
}
