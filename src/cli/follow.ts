import { setTimeout as delay } from "node:timers/promises";
import { alertRow } from "./alerts.ts";
import { type Answer, type ApiClient, ApiFailure } from "./client.ts";
import { CliError } from "./exit.ts";
import type { Host } from "./host.ts";
import { listIn } from "./print.ts";
import { plain } from "./text.ts";

const second = 1000;
const minute = 60 * second;
const day = 24 * 60 * minute;

/**
 * Two looks at each device: often at what happened just now, seldom at all of the last day, since trackers tell late what they kept. `perAlert`: so long a look
 * rests for each alert that it read, so that together they read less than 90,000 a day of the 200,000 that the service gives of a device, however many there are.
 */
const looks = [
  { window: 10 * minute, pause: 3 * second, perAlert: 2 * second },
  { window: day, pause: minute, perAlert: 2 * second },
] as const;
/** Event times may be ahead of this machine's clock. */
const ahead = day;
/** Between two requests: 1,200 a minute, of the 3,000 that the service gives a user. */
const breath = 50;
/** Rest where no look is due. */
const idle = 250;
/** Between two tries while the service can't be reached, and two looks at which devices there are. */
const retry = 2 * second;
const relist = minute;
/** Rest of a device whose results of the day are used up. */
const exhausted = 30 * minute;
const pageSize = 1000;

/** Whose alerts are followed, and how they are shown. */
export interface FollowOptions {
  /** None: of all devices that the user sees. */
  readonly devices: readonly string[];
  readonly json: boolean;
}

/** A device that is followed. */
interface Followed {
  readonly id: string;
  /** When each of the looks is due next, monotonic ms. */
  readonly due: number[];
  /** When each of them has rested for the alerts that it read. */
  readonly rested: number[];
  /** Alerts that were seen, and when they happened; undefined: no look was taken yet, and what is there is old. */
  seen: Map<string, number> | undefined;
}

/** Prints alerts as they come, until the host is interrupted, which ends it well. Tells when the service can't be reached, and goes on. */
export async function followAlerts(host: Host, client: ApiClient, options: FollowOptions): Promise<void> {
  try {
    await new Following(host, client, options).run();
  } catch (error) {
    if (!host.interrupted.aborted) throw error;
  }
}

class Following {
  readonly #host: Host;
  readonly #client: ApiClient;
  readonly #options: FollowOptions;
  readonly #devices = new Map<string, Followed>();
  #listed = Number.NEGATIVE_INFINITY;
  #lost = false;

  constructor(host: Host, client: ApiClient, options: FollowOptions) {
    this.#host = host;
    this.#client = client;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { terminal, interrupted } = this.#host;
    for (const id of this.#options.devices) this.#follow(id);
    await this.#list();
    // A name that is mistyped is told at once, and so is a service that is not there.
    for (const device of this.#devices.values()) await this.#look(device, looks.length - 1);
    const { size } = this.#devices;
    terminal.err(`Following the alerts of ${size === 1 ? "1 device" : `${size} devices`}; Ctrl-C ends it.\n`);
    while (!interrupted.aborted) await this.#surviving(() => this.#round());
  }

  /** One look at each device that is due, then a rest. */
  async #round(): Promise<void> {
    await this.#list();
    for (const device of this.#devices.values())
      for (const kind of looks.keys()) {
        const due = device.due[kind] ?? 0;
        if (this.#host.clock.monotonic() < due) continue;
        await this.#lookIfThere(device, kind);
        await this.#rest(breath);
      }
    await this.#rest(idle);
  }

  /** Takes a look; a device that is gone is followed no longer, and one whose alerts may not be read any more today rests, while the others go on. */
  async #lookIfThere(device: Followed, kind: number): Promise<void> {
    try {
      await this.#look(device, kind);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      const { terminal, clock } = this.#host;
      if (error.exit === "notFound") {
        this.#devices.delete(device.id);
        if (this.#options.devices.length > 0) terminal.err(`${error.message}; it is not followed any longer\n`);
        if (this.#options.devices.length > 0 && this.#devices.size === 0) throw error;
      } else if (error.text === "daily results limit reached") {
        terminal.err(`${error.message}; looking again in ${exhausted / minute} minutes\n`);
        device.due.fill(clock.monotonic() + exhausted);
      } else throw error;
    }
  }

  /** Does it; where the service can't be reached or is busy, tells so once and tries again later. */
  async #surviving(work: () => Promise<void>): Promise<void> {
    const { terminal } = this.#host;
    try {
      await work();
      if (this.#lost) terminal.err("The service answers again.\n");
      this.#lost = false;
    } catch (error) {
      if (!(error instanceof CliError) || !["unreachable", "busy", "failure"].includes(error.exit)) throw error;
      if (!this.#lost) terminal.err(`${error.message}; trying again until it answers ...\n`);
      this.#lost = true;
      await this.#rest(retry);
    }
  }

  async #list(): Promise<void> {
    const now = this.#host.clock.monotonic();
    if (this.#options.devices.length === 0 && now - this.#listed >= relist) {
      const present = listIn(await this.#client.call("GET", "/api/devices"), "devices").map(({ id }) => String(id));
      for (const id of this.#devices.keys()) if (!present.includes(id)) this.#devices.delete(id);
      // What was registered since has no alerts of before; the first list's devices may.
      const first = this.#listed === Number.NEGATIVE_INFINITY;
      for (const id of present) this.#follow(id, first ? undefined : new Map());
      this.#listed = now;
    }
  }

  #follow(id: string, seen?: Followed["seen"]): void {
    if (!this.#devices.has(id))
      this.#devices.set(id, { id, due: looks.map(() => 0), rested: looks.map(() => 0), seen });
  }

  /** Prints what is new of a look's window. The last look is taken in place of another one that finds something, where it may: what led to it may be older. */
  async #look(device: Followed, kind: number): Promise<void> {
    const { clock, terminal } = this.#host;
    const { window, pause, perAlert } = looks[kind] ?? looks[0];
    const now = clock.now();
    // The first look is at everything, so that nothing of the day before is taken for new.
    const from = now - (device.seen === undefined ? day : window);
    const alerts = await this.#read(device.id, from, now + ahead);
    const rested = clock.monotonic() + alerts.length * perAlert;
    device.rested[kind] = rested;
    device.due[kind] = Math.max(clock.monotonic() + pause, rested);
    const last = looks.length - 1;
    const isNew = ({ id }: Answer) => device.seen !== undefined && !device.seen.has(String(id));
    if (kind !== last && clock.monotonic() >= (device.rested[last] ?? 0) && alerts.some(isNew))
      return this.#look(device, last);
    const seen = device.seen ?? new Map<string, number>();
    for (const alert of alerts) {
      const id = String(alert.id);
      if (isNew(alert)) await terminal.out(this.#show(device.id, alert));
      seen.set(id, Date.parse(String(alert.dateTime)));
    }
    for (const [id, time] of seen) if (time < now - day - minute) seen.delete(id);
    device.seen = seen;
  }

  async #read(device: string, from: number, to: number): Promise<readonly Answer[]> {
    const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), limit: pageSize };
    const alerts: Answer[] = [];
    let cursor: unknown;
    do {
      const body = cursor === undefined ? range : { ...range, cursor };
      const answer = await this.#client.device("POST", device, "/alerts", body);
      alerts.push(...listIn(answer, "alerts"));
      cursor = answer.nextCursor;
    } while (typeof cursor === "string");
    return alerts;
  }

  #show(deviceId: string, alert: Answer): string {
    return this.#options.json ? `${JSON.stringify({ deviceId, ...alert })}\n` : alertRow(alert, plain(deviceId));
  }

  async #rest(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#host.interrupted });
  }
}
