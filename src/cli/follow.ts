import { setTimeout as delay } from "node:timers/promises";
import { alertNews } from "./alerts.ts";
import { type Answer, type ApiClient, about } from "./client.ts";
import { CliError } from "./exit.ts";
import type { Host } from "./host.ts";
import { listIn } from "./print.ts";
import { plain } from "./text.ts";

/** Between two tries while the service can't be reached, ms. */
const retryMs = 2000;
/** Alerts whose ids are remembered: those that are printed since the place from which missed ones would be listed. */
const mostRemembered = 5000;
/** Devices that one question may name. */
const mostDevices = 100;

/** Whose alerts are followed, and how they are shown. */
export interface FollowOptions {
  /** None: of all devices that the user sees. */
  readonly devices: readonly string[];
  readonly json: boolean;
}

/**
 * Prints alerts as they are found, end, or are seen to, until the host is interrupted, which ends it well. Tells when
 * the service can't be reached, and goes on where it was.
 */
export async function followAlerts(host: Host, client: ApiClient, options: FollowOptions): Promise<void> {
  if (options.devices.length > mostDevices)
    throw new CliError("usage", `give at most ${mostDevices} devices`, "If you give none, the command follows all.");
  const { devices } = options;
  const follower = new Follower(host, client, options);
  try {
    // What is mistyped is told at once, and so is a service that is not there.
    await follower.begin();
    const whose = devices.length === 0 ? "all devices" : devices.map(plain).join(", ");
    host.terminal.err(`Following the alerts of ${whose}. Press Ctrl-C to end.\n`);
    while (!host.interrupted.aborted) {
      await follower.follow();
      await delay(retryMs, undefined, { signal: host.interrupted });
    }
  } catch (error) {
    if (!host.interrupted.aborted) throw error;
  }
}

class Follower {
  readonly #host: Host;
  readonly #client: ApiClient;
  readonly #options: FollowOptions;
  /** From where alerts are listed that the stream could not tell. */
  #cursor: unknown;
  /** Ids of alerts that were printed since. */
  readonly #printed = new Set<unknown>();
  #lastEventId: string | undefined;
  /** The stream has begun anew, so it tells nothing of what happened before. */
  #missed = false;
  #lost = false;

  constructor(host: Host, client: ApiClient, options: FollowOptions) {
    this.#host = host;
    this.#client = client;
    this.#options = options;
  }

  async begin(): Promise<void> {
    ({ nextCursor: this.#cursor } = await this.#ask(this.#query({ follow: "true" })));
  }

  /** Prints what the stream tells until it ends. */
  async follow(): Promise<void> {
    const id = this.#lastEventId;
    const query = this.#query({ kind: "alert", ...(id !== undefined && { lastEventId: id }) });
    try {
      for await (const { id: place, event, data } of this.#client.events(`/api/stream?${query}`)) {
        this.#lastEventId = place ?? this.#lastEventId;
        if (event === "alert") await this.#print(data);
        if (event === "reset") this.#missed = true;
        if (event === "live") await this.#live();
      }
      throw new CliError("unreachable", "the service ended the stream");
    } catch (error) {
      if (!(error instanceof CliError) || !["unreachable", "busy", "failure"].includes(error.exit)) throw error;
      if (!this.#lost) this.#host.terminal.err(`${error.message}; trying again ...\n`);
      this.#lost = true;
    }
  }

  async #live(): Promise<void> {
    if (this.#lost) this.#host.terminal.err("The service answers again.\n");
    this.#lost = false;
    if (this.#missed) await this.#list();
    this.#missed = false;
  }

  /** Prints the alerts that were found since the cursor, and were not printed yet. */
  async #list(): Promise<void> {
    for (let alerts: readonly Answer[] | undefined; alerts?.length !== 0; ) {
      const cursor = typeof this.#cursor === "string" ? { cursor: this.#cursor } : {};
      const answer = await this.#ask(this.#query({ follow: "true", ...cursor }));
      alerts = listIn(answer, "alerts");
      for (const alert of alerts) if (!this.#printed.has(alert.id)) await this.#out(alert);
      this.#cursor = answer.nextCursor;
    }
    this.#printed.clear();
  }

  async #print(alert: Answer): Promise<void> {
    this.#printed.add(alert.id);
    await this.#out(alert);
    // All of them were printed: the list is read to move the cursor on.
    if (this.#printed.size >= mostRemembered) await this.#list();
  }

  async #out(alert: Answer): Promise<void> {
    const { json } = this.#options;
    await this.#host.terminal.out(json ? `${JSON.stringify(alert)}\n` : alertNews(alert, plain(alert.deviceId)));
  }

  #ask(query: URLSearchParams): Promise<Answer> {
    const { devices } = this.#options;
    const answer = this.#client.call("GET", `/api/alerts?${query}`);
    return devices.length === 0 ? answer : about(devices.join(", "), answer);
  }

  #query(fields: Readonly<Record<string, string>>): URLSearchParams {
    const { devices } = this.#options;
    return new URLSearchParams({ ...fields, ...(devices.length > 0 && { device: devices.join(",") }) });
  }
}
