import { type Command, InvalidArgumentError, Option } from "commander";
import { clientFor, examples } from "../context.ts";
import { findTrackers } from "../credentials.ts";
import { CliError } from "../exit.ts";
import { hostOf, summarize, watchFleet } from "../fleet-watch.ts";
import type { Host } from "../host.ts";
import { registerDevices } from "../register.ts";
import { loadStory, playScenario } from "../scenario.ts";

interface SimulateOptions {
  readonly devices: number;
  readonly interval: number;
  readonly protocol: string;
  readonly seed: string;
  readonly count?: number;
  readonly deviceHost?: string;
  readonly devicePort?: number;
  readonly connects: number;
  readonly scenario?: string;
  readonly speedUp?: number;
  readonly json?: boolean;
}

/** `device.port` where nobody set it. */
const usualPort = 8888;

/** `waybeam simulate`. */
export function addSimulate(program: Command, host: Host): void {
  program
    .command("simulate")
    .description(
      "a fleet of trackers that drive about and report over real sockets; its devices stay, tagged simulated=true",
    )
    .option("--devices <count>", "how many", integer(1, 1_000_000), 10)
    .option("--interval <seconds>", "between two reports of a device", seconds, 10)
    .option(
      "--protocol <ids>",
      "protocols, separated by commas; they take turns. all: every one that can be simulated",
      "all",
    )
    .option("--seed <text>", "the same seed gives the same devices on the same roads", "waybeam")
    .option(
      "--count <reports>",
      "end when each device has sent this number and all have arrived; otherwise Ctrl-C ends it",
      integer(1, 1e9),
    )
    .option(
      "--url <address>",
      "the REST API, to register the devices; without it as WAYBEAM_URL or credentials.json say",
    )
    .option(
      "--device-host <host>",
      "where trackers connect; without it as credentials.json says, or the REST API's host",
    )
    .addOption(
      new Option("--device-port <port>", "the port for trackers; without it as credentials.json says, or 8888")
        .argParser(integer(1, 65_535))
        .env("WAYBEAM_DEVICE_PORT"),
    )
    .option("--connects <count>", "connections opened in a second at most", integer(1, 100_000), 500)
    .addOption(
      new Option(
        "--scenario <file>",
        "the fleet lives through a written story (JSON; - is standard input): docs/simulator.md",
      ).conflicts(["devices", "interval", "protocol", "count"]),
    )
    .option(
      "--speed-up <factor>",
      "with --scenario: how many times as fast; the story begins earlier and ends now",
      factor,
    )
    .option("--json", "the summary as one JSON object")
    .addHelpText(
      "after",
      examples(
        "waybeam simulate --devices 100 --interval 5",
        "waybeam simulate --devices 1000 --interval 1 --protocol teltonika,gt06 --seed load --count 60 --json",
        "waybeam simulate --scenario docs/scenarios/power-cut.json --speed-up 240",
        "waybeam device remove --tag simulated=true",
      ),
    )
    .action((options: SimulateOptions, command: Command) => simulate(host, options, command));
}

async function simulate(host: Host, options: SimulateOptions, command: Command): Promise<void> {
  const { scenario, speedUp = 1 } = options;
  if (scenario !== undefined) {
    const story = await loadStory(host, scenario);
    const client = await clientFor(host, command);
    await playScenario(host, client, story, {
      ...options,
      ...(await placeOf(host, options, command, client.url)),
      scenario,
      speedUp,
    });
    return;
  }
  if (options.speedUp !== undefined) throw new CliError("usage", "--speed-up is for --scenario");
  const { startFleet } = await import("../../simulator/index.ts");
  const protocols = await protocolsOf(options.protocol);
  const client = await clientFor(host, command);
  const started = host.clock.monotonic();
  const { json } = options;
  const { deviceHost, devicePort } = await placeOf(host, options, command, client.url);
  const fleet = await startFleet({
    devices: options.devices,
    interval: options.interval,
    protocols,
    seed: options.seed,
    ...(options.count !== undefined && { count: options.count }),
    host: deviceHost,
    port: devicePort,
    connectsPerSecond: options.connects,
    clock: host.clock,
    register: (devices) => registerDevices(host, client, devices),
  });
  await summarize(host, await watchFleet(host, fleet), started, { json, deviceHost, devicePort });
}

/**
 * Where the trackers connect: as the command says, as the service noted beside its credentials, or on its usual port.
 */
async function placeOf(host: Host, options: SimulateOptions, command: Command, url: string) {
  const { config, url: asked } = command.optsWithGlobals<{ config?: string; url?: string }>();
  const { deviceHost, devicePort } = options;
  const noted = await findTrackers(host, config, asked);
  return { deviceHost: deviceHost ?? noted?.host ?? hostOf(url), devicePort: devicePort ?? noted?.port ?? usualPort };
}

/** The protocols that a list of ids names. */
export async function protocolsOf(list: string) {
  const { protocols } = await import("../../protocols/index.ts");
  const able = protocols.filter((protocol) => protocol.simulate !== undefined);
  const known = `Known are: ${able.map(({ id }) => id).join(", ")}.`;
  if (list === "all") return able;
  return list.split(",").map((id) => {
    const protocol = able.find((each) => each.id === id.trim());
    if (!protocol) throw new CliError("usage", `no protocol ${id} that can be simulated`, known);
    return protocol;
  });
}

function integer(low: number, high: number) {
  return (text: string): number => {
    const number = Number(text);
    if (/^\d{1,10}$/.test(text) && number >= low && number <= high) return number;
    throw new InvalidArgumentError(`It must be an integer from ${low} to ${high}.`);
  };
}

function seconds(text: string): number {
  const number = Number(text);
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text) && number > 0) return number;
  throw new InvalidArgumentError("It must be a number of seconds above 0.");
}

function factor(text: string): number {
  const number = Number(text);
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text) && number >= 1) return number;
  throw new InvalidArgumentError("It must be a number of at least 1.");
}
