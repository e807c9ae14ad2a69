import { setTimeout as delay } from "node:timers/promises";
import { alertRow } from "./alerts.ts";
import { type Answer, type ApiClient, about } from "./client.ts";
import { CliError } from "./exit.ts";
import type { Host } from "./host.ts";
import { listIn } from "./print.ts";
import { plain } from "./text.ts";

/** Between two questions, ms: 30 of the 3,000 requests that the service gives a user in a minute. */
const pauseMs = 2000;
/** Between two tries while the service can't be reached, ms. */
const retryMs = 2000;
/** Devices that one question may name. */
const mostDevices = 100;

/** Whose alerts are followed, and how they are shown. */
export interface FollowOptions {
  /** None: of all devices that the user sees. */
  readonly devices: readonly string[];
  readonly json: boolean;
}

/** Prints alerts as they are found, until the host is interrupted, which ends it well. Tells when the service can't be reached, and goes on. */
export async function followAlerts(host: Host, client: ApiClient, options: FollowOptions): Promise<void> {
  if (options.devices.length > mostDevices)
    throw new CliError("usage", `give at most ${mostDevices} devices`, "If you give none, the command follows all.");
  try {
    await follow(host, client, options);
  } catch (error) {
    if (!host.interrupted.aborted) throw error;
  }
}

async function follow(host: Host, client: ApiClient, { devices, json }: FollowOptions): Promise<void> {
  const { terminal, interrupted } = host;
  const ask = async (cursor?: unknown) => {
    const query = new URLSearchParams({ follow: "true" });
    if (devices.length > 0) query.set("device", devices.join(","));
    if (typeof cursor === "string") query.set("cursor", cursor);
    const answer = client.call("GET", `/api/alerts?${query}`);
    return devices.length === 0 ? answer : about(devices.join(", "), answer);
  };
  // What is mistyped is told at once, and so is a service that is not there.
  let { nextCursor } = await ask();
  const whose = devices.length === 0 ? "all devices" : devices.map(plain).join(", ");
  terminal.err(`Following the alerts of ${whose}. Press Ctrl-C to end.\n`);
  let lost = false;
  while (!interrupted.aborted) {
    let pause = pauseMs;
    try {
      const answer = await ask(nextCursor);
      const alerts = listIn(answer, "alerts");
      for (const alert of alerts) await terminal.out(shown(alert, json));
      ({ nextCursor } = answer);
      if (lost) terminal.err("The service answers again.\n");
      lost = false;
      if (alerts.length > 0) pause = 0;
    } catch (error) {
      if (!(error instanceof CliError) || !["unreachable", "busy", "failure"].includes(error.exit)) throw error;
      if (!lost) terminal.err(`${error.message}; trying again ...\n`);
      lost = true;
      pause = retryMs;
    }
    await delay(pause, undefined, { signal: interrupted });
  }
}

function shown(alert: Answer, json: boolean): string {
  return json ? `${JSON.stringify(alert)}\n` : alertRow(alert, plain(alert.deviceId));
}
