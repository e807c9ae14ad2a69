import { join } from "node:path";
import type { Command } from "commander";
import type { Fleet } from "../../simulator/index.ts";
import { ApiClient } from "../client.ts";
import { examples } from "../context.ts";
import { readCredentials } from "../credentials.ts";
import { CliError } from "../exit.ts";
import { hostOf } from "../fleet-watch.ts";
import type { Host, Service } from "../host.ts";
import { registerDevices } from "../register.ts";
import { watchStream } from "../stream-watch.ts";
import { startSummary, stop, untilInterrupted } from "./serve.ts";
import { protocolsOf } from "./simulate.ts";

/** Cars of the demonstration, and seconds between their reports. */
const devices = 25;
const interval = 2;

/** `waybeam demo`. */
export function addDemo(program: Command, host: Host): void {
  program
    .command("demo")
    .description(`run the service with a simulated fleet of ${devices} cars that move, in a data folder of its own`)
    .option("--data <folder>", "its data folder; WAYBEAM_DATA is left alone. Delete it to clean up", "./data-demo")
    .addHelpText(
      "after",
      examples("waybeam demo", "WAYBEAM_HTTP_PORT=8081 WAYBEAM_DEVICE_PORT=8889 waybeam demo --data /tmp/demo"),
    )
    .action(async ({ data }: { data: string }, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>();
      const service = await start(host, config, data);
      try {
        await run(host, service, data);
      } finally {
        await stop(host, service);
      }
    });
}

/**
 * Starts the service. A port that is taken is most likely the user's own service's: then the demonstration needs
 * others.
 */
async function start(host: Host, config: string | undefined, data: string): Promise<Service> {
  try {
    return await host.startService(config, data);
  } catch (error) {
    if (!(error instanceof CliError) || error.exit !== "inUse") throw error;
    const ports = "WAYBEAM_HTTP_PORT=8081 WAYBEAM_DEVICE_PORT=8889";
    const hint = `If your own service or another demo runs, give this one others: ${ports} ./waybeam demo --data ./data-demo2`;
    throw new CliError("inUse", error.message, hint);
  }
}

async function run(host: Host, service: Service, data: string): Promise<void> {
  const credentialsFile = join(data, "credentials.json");
  const { startFleet } = await import("../../simulator/index.ts");
  const credentials = { ...(await readCredentials(credentialsFile)), url: service.url };
  const client = new ApiClient(credentials, { signal: host.interrupted });
  const fleet = await startFleet({
    devices,
    interval,
    protocols: await protocolsOf("all"),
    seed: "streets",
    host: hostOf(service.url),
    port: service.devicePort,
    clock: host.clock,
    register: (list) => registerDevices(host, client, list),
  });
  host.terminal.err(
    startSummary(service, host.terminal.errIsTty) + whatToTry(service, fleet, data, host.terminal.errIsTty),
  );
  const over = new AbortController();
  const watching = watchStream(host, credentials, AbortSignal.any([host.interrupted, over.signal]));
  try {
    await Promise.race([untilInterrupted(host.interrupted, service), watching]);
  } finally {
    over.abort();
    await watching.finally(() => fleet.stop());
  }
}

function whatToTry({ url, firstLink }: Service, { devices: [first] }: Fleet, data: string, tty: boolean): string {
  const id = first?.id ?? "";
  const json = "-H 'Content-Type: application/json'";
  return `${devices} simulated cars report every ${interval} s. In another terminal try:
  export WAYBEAM_DATA=${quoted(data)}
  ./waybeam device list
  ./waybeam last ${id}
  ./waybeam history ${id} --from 10m
  ./waybeam trace ${id}
or the REST API itself:
  TOKEN=$(curl -s ${url}/api/Auth/Token ${json} -d @"$WAYBEAM_DATA/credentials.json" | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  curl -s ${url}/api/devices -H "Authorization: Bearer $TOKEN"
  curl -s ${url}/api/devices/${id}/lastLocation -H "Authorization: Bearer $TOKEN"
  curl -sN ${url}/api/stream -H "Authorization: Bearer $TOKEN"
Its data is in ${data}, apart from your own: delete that folder to clean up.

See the cars move: ${tty && firstLink !== undefined ? firstLink : url}
`;
}

/** A text as one word of the shell. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
