import { once } from "node:events";
import type { Fleet, FleetStats } from "../simulator/index.ts";
import { CliError } from "./exit.ts";
import type { Host } from "./host.ts";
import { Progress } from "./progress.ts";

/** Shows the counters until the fleet ends or is interrupted. */
export async function watchFleet(host: Host, fleet: Fleet): Promise<FleetStats> {
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

/** Where a fleet's trackers connect, and how its summary is shown; `more` stands beside the counters in JSON. */
export interface SummaryOptions {
  readonly deviceHost: string;
  readonly devicePort: number;
  readonly json: boolean | undefined;
  readonly more?: object;
}

/** Says at the end what a fleet did since `started` (monotonic ms). Throws where none of it came through. */
export async function summarize(
  host: Host,
  stats: FleetStats,
  started: number,
  { deviceHost, devicePort, json, more = {} }: SummaryOptions,
): Promise<void> {
  const elapsed = (host.clock.monotonic() - started) / 1000;
  const seconds = Math.round(elapsed * 10) / 10;
  const summary = { ...stats, seconds, ackedPerSecond: Math.round(stats.acked / elapsed), ...more };
  if (json) await host.terminal.out(`${JSON.stringify(summary)}\n`);
  else await host.terminal.out(`${describe(stats)}\n${acknowledged(stats, seconds)}\n`);
  if (stats.refused > 0 && stats.acked === 0)
    throw new CliError(
      "failure",
      "the service refused every tracker",
      "Are the devices expired, or is --device-port another's?",
    );
  if (stats.sent === 0 && stats.reconnects > 0)
    throw new CliError(
      "unreachable",
      `no tracker could connect to ${deviceHost} at port ${devicePort}`,
      "--device-host and --device-port say where they connect.",
    );
}

/** What came of a fleet's reports, in one sentence. */
function acknowledged({ acked, sent, unanswered, devices }: FleetStats, seconds: number): string {
  const all = `The service acknowledged ${acked} of ${sent - unanswered} reports of ${devices} devices in ${seconds} s.`;
  return unanswered === 0 ? all : `${all} Protocols without acknowledgements sent ${unanswered} more.`;
}

/** The counters in one line. */
export function describe(stats: FleetStats): string {
  const { devices, connected, sent, acked, unanswered, refused, reconnects, resent, dropped, waiting } = stats;
  const always = `${connected} of ${devices} connected, ${sent} sent, ${acked} acked, ${refused} refused, ${waiting} waiting`;
  const rare = Object.entries({ "need no ack": unanswered, resent, dropped, reconnects }).filter(
    ([, count]) => count > 0,
  );
  return [always, ...rare.map(([name, count]) => `${count} ${name}`)].join(", ");
}

/** The host of an address, as sockets take it: an IPv6 address without its brackets. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}
