import { join } from "node:path";
import type { Command } from "commander";
import type { Fleet } from "../../simulator/index.ts";
import { ApiClient } from "../client.ts";
import { examples } from "../context.ts";
import { readCredentials } from "../credentials.ts";
import type { Host, Service } from "../host.ts";
import { Progress } from "../progress.ts";
import { registerDevices } from "../register.ts";
import { startSummary, untilInterrupted } from "./serve.ts";
import { describe, hostOf, protocolsOf } from "./simulate.ts";

/** Cars of the demonstration, and seconds between their reports. */
const devices = 25;
const interval = 2;

/** `waybeam demo`. */
export function addDemo(program: Command, host: Host): void {
  program
    .command("demo")
    .description(`run the service with a simulated fleet of ${devices} cars that move`)
    .addHelpText("after", examples("waybeam demo", "WAYBEAM_DATA=/tmp/demo waybeam demo"))
    .action(async (_options: object, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>();
      const { data } = await host.readConfig(config);
      const service = await host.startService(config);
      try {
        await run(host, service, join(data, "credentials.json"));
      } finally {
        await service.stop();
      }
    });
}

async function run(host: Host, service: Service, credentialsFile: string): Promise<void> {
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
  host.terminal.err(startSummary(service) + whatToTry(service, fleet, credentialsFile));
  const progress = new Progress(host);
  const timer = setInterval(() => progress.show(() => describe(fleet.stats)), 200);
  try {
    await untilInterrupted(host.interrupted, service);
  } finally {
    clearInterval(timer);
    progress.end();
    await fleet.stop();
  }
}

function whatToTry({ url }: Service, { devices: [first] }: Fleet, credentialsFile: string): string {
  const id = first?.id ?? "";
  const json = "-H 'Content-Type: application/json'";
  return `${devices} simulated cars report every ${interval} s. In another terminal try:
  ./waybeam device list
  ./waybeam last ${id}
  ./waybeam history ${id} --from 10m
  ./waybeam trace ${id}
or the REST API itself:
  TOKEN=$(curl -s ${url}/api/Auth/Token ${json} -d @${credentialsFile} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  curl -s ${url}/api/devices -H "Authorization: Bearer $TOKEN"
  curl -s ${url}/api/devices/${id}/lastLocation -H "Authorization: Bearer $TOKEN"

`;
}
