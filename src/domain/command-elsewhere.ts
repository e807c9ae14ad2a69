import type { Command } from "../model/command.ts";
import type { Device } from "../model/device.ts";
import type { Bus, BusEvent } from "../ports/bus.ts";
import type { CommandStore } from "../ports/command-store.ts";
import type { Dispatcher } from "../ports/dispatcher.ts";
import type { CommandsUnderWay } from "./command-under-way.ts";

/** What it needs of the service. */
export interface OutcomesElsewhereContext {
  readonly store: { readonly commands: Pick<CommandStore, "find"> };
  readonly dispatcher: Pick<Dispatcher, "where" | "onElsewhere">;
  readonly bus: Pick<Bus, "subscribe">;
  readonly underWay: Pick<CommandsUnderWay, "has">;
}

/** Somebody who waits for what becomes of a command. */
interface Waiter {
  readonly device: string;
  readonly ends: () => void;
}

/** Waits for what becomes of commands whose devices are connected to other processes. */
export class OutcomesElsewhere {
  readonly #context: OutcomesElsewhereContext;
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #unsubscribe: () => void;

  constructor(context: OutcomesElsewhereContext) {
    this.#context = context;
    this.#unsubscribe = context.bus.subscribe((event) => this.#hear(event));
    context.dispatcher.onElsewhere((device) => this.#left(device));
  }

  /**
   * Does what is to be done here, then waits until another process has recorded what became of the command, if one is
   * about to: longest until it has the connection no longer.
   */
  async after(work: () => Promise<void>, device: Pick<Device, "key" | "id">, { id }: Command): Promise<void> {
    const outcome = Promise.withResolvers<void>();
    const waiter = { device: device.id, ends: outcome.resolve };
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(waiter));
    try {
      await work();
      if (this.#context.dispatcher.where(device.id) !== "elsewhere") return;
      const command = await this.#context.store.commands.find(device.key, id);
      if (command?.state === "queued" || (command !== undefined && this.#context.underWay.has(id)))
        await outcome.promise;
    } finally {
      waiters.delete(waiter);
      if (waiters.size === 0) this.#waiters.delete(id);
    }
  }

  stop(): void {
    this.#unsubscribe();
    for (const waiters of this.#waiters.values()) for (const { ends } of waiters) ends();
  }

  #hear(event: BusEvent): void {
    if (event.type !== "commandChanged" || event.underWay || event.command.state === "queued") return;
    for (const { ends } of this.#waiters.get(event.command.id) ?? []) ends();
  }

  #left(device: string): void {
    if (this.#waiters.size === 0 || this.#context.dispatcher.where(device) === "elsewhere") return;
    for (const waiters of this.#waiters.values())
      for (const waiter of waiters) if (waiter.device === device) waiter.ends();
  }
}
