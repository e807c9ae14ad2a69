import type { DeviceKey } from "../../../model/device.ts";
import type { Log } from "../../../ports/log.ts";
import { isDown } from "../../failures.ts";
import type { WorkerLink } from "../../sqlite/workers/worker-link.ts";
import type { DeviceChange, PositionPackerCalls, PositionWriterCalls } from "./messages.ts";
import type { Places } from "./places.ts";

/** So many devices are packed at a time, and changed in a transaction: commits wait for no more than that. */
const devicesAtOnce = 10;
/** A transaction of fewer devices where their blocks are many: about so many bytes. */
const bytesAtOnce = 256 * 1024;
/** So many rows are deleted in a transaction. */
const rowsAtOnce = 2000;
/** The rows that are loaded at a time, bytes: what packing takes of memory. */
const loadedBytes = 64 * 1024 * 1024;

/** What a round of packing changed. */
export interface PackingResult {
  blocks: number;
  records: number;
  /** Rows that are gone, and their bytes. */
  rows: number;
  bytes: number;
  /** Things that were found damaged. */
  damaged: number;
}

/**
 * Moves all rows of the log up to a number into blocks. It can stop at any moment: what is in both is read once, and
 * packed again.
 */
export class Packing {
  readonly #writer: WorkerLink<PositionWriterCalls>;
  readonly #packer: WorkerLink<PositionPackerCalls>;
  readonly #places: Places;
  readonly #log: Log;

  constructor(
    writer: WorkerLink<PositionWriterCalls>,
    packer: WorkerLink<PositionPackerCalls>,
    { places, log }: { readonly places: Places; readonly log: Log },
  ) {
    this.#writer = writer;
    this.#packer = packer;
    this.#places = places;
    this.#log = log;
  }

  /** `onResult`: told after each part of the log, so that what was done counts where a later part fails. */
  async run(through: number, signal: AbortSignal, onResult: (result: PackingResult) => void): Promise<void> {
    try {
      for (let after = 0; ; ) {
        const loaded = await this.#packer.call("load", { after, through, bytes: loadedBytes });
        if (loaded === undefined) return;
        after = loaded.through;
        const result: PackingResult = { blocks: 0, records: 0, rows: 0, bytes: 0, damaged: loaded.damaged.length };
        for (const row of loaded.damaged)
          this.#log.error({ row }, "a row of the log is damaged; nobody knows whose positions it holds");
        await this.#apply(loaded.wrecks, result);
        const failed = await this.#pack(loaded.devices, signal, result);
        const rows = [...failed].flatMap((device) => this.#rowsUpTo(device, after));
        await this.#deleteRows(after, rows, result);
        this.#places.drop(after, failed);
        onResult(result);
      }
    } finally {
      await this.#packer.call("unload", null);
    }
  }

  /** Returns the devices that could not be packed. Their rows stay. */
  async #pack(
    devices: readonly DeviceKey[],
    signal: AbortSignal,
    result: PackingResult,
  ): Promise<ReadonlySet<DeviceKey>> {
    const failed = new Set<DeviceKey>();
    for (let at = 0; at < devices.length; at += devicesAtOnce) {
      signal.throwIfAborted();
      const packed = await this.#packer.call("pack", devices.slice(at, at + devicesAtOnce));
      for (const what of packed.damaged) this.#log.error({ what }, "stored positions are damaged");
      for (const { device, why } of packed.failed) {
        failed.add(device);
        this.#tellFailed(device, why);
      }
      result.damaged += packed.damaged.length;
      for (const changes of partsOf(packed.changes))
        for (const device of await this.#apply(changes, result)) failed.add(device);
    }
    return failed;
  }

  /** Returns the devices whose changes were not made. */
  async #apply(changes: readonly DeviceChange[], result: PackingResult): Promise<readonly DeviceKey[]> {
    if (changes.length === 0) return [];
    try {
      return await this.#applyTogether(changes, result);
    } catch (error) {
      if (isDown(error)) throw error;
      const byDevice = Map.groupBy(changes, ({ device }) => device);
      // It may be one device's fault.
      const failed: DeviceKey[] = [];
      for (const [device, own] of byDevice) {
        if (byDevice.size > 1) failed.push(...(await this.#apply(own, result)));
        else {
          this.#tellFailed(device, String(error));
          failed.push(device);
        }
      }
      return failed;
    }
  }

  async #applyTogether(changes: readonly DeviceChange[], result: PackingResult): Promise<readonly DeviceKey[]> {
    const done = await this.#writer.call("apply", changes);
    const sum = (blocks: readonly { readonly count: number }[]) => blocks.reduce((all, { count }) => all + count, 0);
    for (const [index, { put, remove }] of changes.entries()) {
      if (!done[index]) continue;
      result.blocks += put.length - remove.length;
      result.records += sum(put) - sum(remove);
    }
    return changes.filter((_, index) => !done[index]).map(({ device }) => device);
  }

  #tellFailed(device: DeviceKey, why: string): void {
    this.#log.error({ device, why }, "positions of a device can't be packed; they stay in the log");
  }

  #rowsUpTo(device: DeviceKey, through: number): readonly number[] {
    return this.#places
      .of(device, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
      .map(({ seq }) => seq)
      .filter((seq) => seq <= through);
  }

  async #deleteRows(through: number, except: readonly number[], result: PackingResult): Promise<void> {
    for (;;) {
      const deleted = await this.#writer.call("deleteRows", { through, except, limit: rowsAtOnce });
      result.rows += deleted.length;
      result.bytes += deleted.reduce((sum, bytes) => sum + bytes, 0);
      if (deleted.length < rowsAtOnce) return;
    }
  }
}

/** Changes in their order, some at a time. */
function* partsOf(changes: readonly DeviceChange[]): Iterable<readonly DeviceChange[]> {
  let part: DeviceChange[] = [];
  let bytes = 0;
  for (const change of changes) {
    part.push(change);
    bytes += change.put.reduce((sum, { data }) => sum + data.byteLength, 0);
    if (bytes < bytesAtOnce) continue;
    yield part;
    [part, bytes] = [[], 0];
  }
  if (part.length > 0) yield part;
}
