import { once } from "node:events";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Fleet, FleetStats } from "../../simulator/index.ts";
import { clientFor, examples } from "../context.ts";
import { CliError } from "../exit.ts";
import type { Host } from "../host.ts";
import { Progress } from "../progress.ts";
import { registerDevices } from "../register.ts";

interface SimulateOptions {
  readonly devices: number;
  readonly interval: number;
  readonly protocol: string;
  readonly seed: string;
  readonly count?: number;
  readonly deviceHost?: string;
  readonly devicePort: number;
  readonly connects: number;
  readonly json?: boolean;
}

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
      "end when each device sent so many and all arrived; otherwise Ctrl-C ends it",
      integer(1, 1e9),
    )
    .option(
      "--url <address>",
      "the REST API, to register the devices; without it as WAYBEAM_URL or credentials.json say",
    )
    .option("--device-host <host>", "where trackers connect; without it the host of the REST API")
    .addOption(
      new Option("--device-port <port>", "the port for trackers")
        .argParser(integer(1, 65_535))
        .default(8888)
        .env("WAYBEAM_DEVICE_PORT"),
    )
    .option("--connects <count>", "connections opened in a second at most", integer(1, 100_000), 500)
    .option("--json", "the summary as one JSON object")
    .addHelpText(
      "after",
      examples(
        "waybeam simulate --devices 100 --interval 5",
        "waybeam simulate --devices 1000 --interval 1 --protocol teltonika,gt06 --seed load --count 60 --json",
        "waybeam device remove --tag simulated=true",
      ),
    )
    .action((options: SimulateOptions, command: Command) => simulate(host, options, command));
}

async function simulate(host: Host, options: SimulateOptions, command: Command): Promise<void> {
  const { startFleet } = await import("../../simulator/index.ts");
  const protocols = await protocolsOf(options.protocol);
  const client = await clientFor(host, command);
  const started = host.clock.monotonic();
  const deviceHost = options.deviceHost ?? hostOf(client.url);
  const fleet = await startFleet({
    devices: options.devices,
    interval: options.interval,
    protocols,
    seed: options.seed,
    ...(options.count !== undefined && { count: options.count }),
    host: deviceHost,
    port: options.devicePort,
    connectsPerSecond: options.connects,
    clock: host.clock,
    register: (devices) => registerDevices(host, client, devices),
  });
  const stats = await watch(host, fleet);
  const elapsed = (host.clock.monotonic() - started) / 1000;
  const summary = {
    ...stats,
    seconds: Math.round(elapsed * 10) / 10,
    ackedPerSecond: Math.round(stats.acked / elapsed),
  };
  if (options.json) await host.terminal.out(`${JSON.stringify(summary)}\n`);
  else await host.terminal.out(`${describe(stats)}, in ${summary.seconds} s\n`);
  if (stats.refused > 0 && stats.acked === 0)
    throw new CliError(
      "failure",
      "the service refused every tracker",
      "Are the devices expired, or is --device-port another's?",
    );
  if (stats.sent === 0 && stats.reconnects > 0)
    throw new CliError(
      "unreachable",
      `no tracker could connect to ${deviceHost} at port ${options.devicePort}`,
      "--device-host and --device-port say where they connect.",
    );
}

/** Shows the counters until the fleet ends or is interrupted. */
async function watch(host: Host, fleet: Fleet): Promise<FleetStats> {
  const progress = new Progress(host);
  const timer = setInterval(() => progress.show(() => describe(fleet.stats)), 200);
  try {
    if (!host.interrupted.aborted) await Promise.race([fleet.finished, once(host.interrupted, "abort")]);
    return await fleet.stop();
  } finally {
    clearInterval(timer);
    progress.end();
  }
}

/** The counters in one line. */
export function describe(stats: FleetStats): string {
  const { devices, connected, sent, acked, refused, reconnects, resent, dropped, waiting } = stats;
  const always = `${connected} of ${devices} connected, ${sent} sent, ${acked} acked, ${refused} refused, ${waiting} waiting`;
  const rare = Object.entries({ resent, dropped, reconnects }).filter(([, count]) => count > 0);
  return [always, ...rare.map(([name, count]) => `${count} ${name}`)].join(", ");
}

/** The host of an address, as sockets take it: an IPv6 address without its brackets. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
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
