import type { AlertEngine, WatchedDevice } from "../ports/alert-engine.ts";
import type { Bus, HeardDevice } from "../ports/bus.ts";
import type { Processes } from "../ports/processes.ts";

/** Others are told so often, ms. */
const tellMs = 1000;

/** What it works with. */
export interface HearingDeps {
  readonly engine: Pick<AlertEngine, "heard">;
  readonly bus: Pick<Bus, "publish">;
  readonly processes: Pick<Processes, "follows" | "others">;
}

/** Devices that were heard of without anything to store: here, and by other processes. */
export class Hearing {
  readonly #deps: HearingDeps;
  #heard = new Map<number, HeardDevice>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: HearingDeps) {
    this.#deps = deps;
  }

  heard({ key, id }: Pick<WatchedDevice, "key" | "id">, at: number): void {
    const { engine, processes } = this.#deps;
    if (processes.follows(key)) engine.heard(key, at);
    if (processes.others.length === 0) return;
    this.#heard.set(key, { key, id, at });
    this.#timer ??= setTimeout(() => this.#tell(), tellMs).unref();
  }

  #tell(): void {
    const devices = [...this.#heard.values()];
    this.#heard = new Map();
    this.#timer = undefined;
    this.#deps.bus.publish({ type: "heard", devices });
  }

  /** Another process heard of these. */
  told(devices: readonly HeardDevice[]): void {
    const { engine, processes } = this.#deps;
    for (const { key, at } of devices) if (processes.follows(key)) engine.heard(key, at);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
