import type { components } from "../api/schema.ts";
import { waitMs } from "../live/backoff.ts";
import { FleetStore } from "../live/store.ts";
import { EventReader, type SentEvent } from "./events.ts";

/** What a link shows. */
export type Shared = components["schemas"]["SharedAnswer"];
/** A device of a link. */
export type SharedDevice = Shared["devices"][number];

/** How far the page of a link is. `ended`: the link is not valid, for whatever reason. */
export type SharedState = "loading" | "shown" | "lost" | "ended";

/** Lists are drawn again at most so often. */
const tickMs = 500;

/** What the holder of a link sees, from now on. The token is the only thing that is sent: no cookie goes along. */
export class SharedView {
  readonly fleet = new FleetStore(Date.now());
  state = $state<SharedState>("loading");
  about = $state.raw<Pick<Shared, "name" | "expires">>();
  devices = $state.raw<ReadonlyMap<string, SharedDevice>>(new Map());
  now = $state(Date.now());
  readonly #token: string;
  readonly #known = new Map<string, SharedDevice>();
  readonly #stopping = new AbortController();
  #drawn = -1;

  constructor(token: string) {
    this.#token = token;
    this.fleet.slideSeconds = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 1;
  }

  /** Begins; ends by what it answers. */
  start(): () => void {
    const timer = setInterval(() => this.#tick(), tickMs);
    this.#follow();
    return () => {
      clearInterval(timer);
      this.#stopping.abort();
    };
  }

  #tick(): void {
    const time = Date.now();
    if (Math.floor(time / 1000) !== Math.floor(this.now / 1000)) this.now = time;
    if (this.fleet.version === this.#drawn) return;
    this.#drawn = this.fleet.version;
    this.devices = new Map(this.#known);
  }

  async #follow(): Promise<void> {
    for (let failures = 1; !this.#isOver(); failures++) {
      try {
        await this.#read();
        if (await this.#listen()) failures = 0;
      } catch {
        // The connection was lost: it is tried again.
      }
      if (this.state === "shown") this.state = "lost";
      if (!this.#isOver()) await new Promise((resolve) => setTimeout(resolve, waitMs(failures, Math.random())));
    }
  }

  #isOver(): boolean {
    return this.state === "ended" || this.#stopping.signal.aborted;
  }

  /** The present, in place of what was shown before. */
  async #read(): Promise<void> {
    const { name, expires, devices }: Shared = await (await this.#ask("/api/shared")).json();
    const keys = new Set(devices.map(({ key }) => key));
    for (const key of this.#known.keys()) if (!keys.has(key)) this.#forget(key);
    for (const device of devices) this.#show(device);
    this.about = { name, expires };
    this.state = "shown";
  }

  /** Hears what happens until the stream ends; whether it told anything. */
  async #listen(): Promise<boolean> {
    const { body } = await this.#ask("/api/shared/stream");
    const events = new EventReader();
    // Not by iteration: Safari has none for streams.
    const pieces = body?.pipeThrough(new TextDecoderStream()).getReader();
    let told = false;
    for (let next = await pieces?.read(); next?.done === false; next = await pieces?.read()) {
      for (const event of events.take(next.value)) this.#hear(event);
      told = true;
    }
    return told;
  }

  #hear({ event, data }: SentEvent): void {
    const { key, name, location }: Partial<SharedDevice> = JSON.parse(data);
    if (event === "location" && key !== undefined) this.#show({ key, name: name ?? "", location: location ?? null });
    else if (event === "gone" && key !== undefined) this.#forget(key);
    // The maker sees other devices than before: those that are not told again are shown no longer.
    else if (event === "reset") for (const known of [...this.#known.keys()]) this.#forget(known);
    else if (event === "end") this.state = "ended";
  }

  async #ask(path: string): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const response = await fetch(path, { headers, credentials: "omit", signal: this.#stopping.signal });
    if (response.status === 404) this.state = "ended";
    if (!response.ok) throw new Error(response.statusText);
    return response;
  }

  #show(device: SharedDevice): void {
    this.#known.set(device.key, device);
    const now = Date.now();
    this.fleet.setStatus(device.key, false, 0, now);
    if (device.location === null) return;
    const { dateTime, longitude, latitude, speed = 0, course = 0 } = device.location;
    const fixAt = Date.parse(dateTime);
    this.fleet.move(device.key, { longitude, latitude, speed, course, fixAt, ignition: false, critical: false }, now);
  }

  #forget(key: string): void {
    this.#known.delete(key);
    this.fleet.remove(key);
  }
}
