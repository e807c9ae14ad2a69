import type { DeviceKey } from "../../../model/device.ts";
import { damageOf, failureOf } from "../../sqlite/engine-errors.ts";
import { compact } from "../compaction.ts";
import { LogRow } from "../log-row.ts";
import type { LogReader } from "./log-reader.ts";
import type { DeviceChange, Loaded, Packed, PositionPackerCalls } from "./messages.ts";

/** No device has this key: blocks of it hold rows of the log that nobody can read. */
export const nobody = 0;

interface LoadedRow {
  readonly seq: number;
  readonly row: LogRow;
}

/** Packs rows of the log into blocks. It only reads; the changes that it makes are for the writer. */
export class LogPacker {
  readonly #reader: LogReader;
  #rows: LoadedRow[] = [];
  /**
   * Where each device's records are: index of the row and place in its directory, in turn. Plain numbers, since there
   * may be millions.
   */
  #parts = new Map<DeviceKey, number[]>();
  #through = 0;

  constructor(reader: LogReader) {
    this.#reader = reader;
  }

  load({ after, through, bytes: most }: PositionPackerCalls["load"]["request"]): Loaded | undefined {
    this.unload();
    const wrecks: DeviceChange[] = [];
    const damaged: number[] = [];
    let [rows, bytes] = [0, 0];
    this.#reader.inSnapshot(() => {
      for (const { seq, data } of this.#reader.rows(after, through)) {
        rows++;
        bytes += data?.byteLength ?? 0;
        this.#through = seq;
        if (data === undefined || !this.#add(seq, data)) damaged.push(seq);
        if (data !== undefined && damaged.at(-1) === seq) wrecks.push(wreckOf(nobody, seq, 0, data));
        if (bytes >= most) break;
      }
    });
    return rows === 0 ? undefined : { through: this.#through, devices: [...this.#parts.keys()], damaged, wrecks };
  }

  /** Returns false where the directory is damaged. */
  #add(seq: number, data: Uint8Array): boolean {
    try {
      const row = new LogRow(data);
      for (let index = 0; index < row.devices; index++) {
        const device = row.deviceAt(index);
        const parts = this.#parts.get(device);
        if (parts === undefined) this.#parts.set(device, [this.#rows.length, index]);
        else parts.push(this.#rows.length, index);
      }
      this.#rows.push({ seq, row });
      return true;
    } catch (error) {
      if (damageOf(error) === undefined) throw error;
      return false;
    }
  }

  pack(devices: readonly DeviceKey[]): Packed {
    const changes: DeviceChange[] = [];
    const failed: { device: DeviceKey; why: string }[] = [];
    const damaged: string[] = [];
    for (const device of devices) {
      try {
        const own: DeviceChange[] = [];
        const records = this.#recordsOf(device, own, damaged);
        own.push(...this.#reader.inSnapshot(() => this.#compacted(device, records, damaged)));
        changes.push(...own);
      } catch (error) {
        failed.push({ device, why: failureOf(error).message });
      }
      // What was packed is needed no more: a round takes the memory of its rows once.
      this.#parts.delete(device);
    }
    return { changes, failed, damaged };
  }

  /** A device's records in the order in which they came. What is damaged becomes a block that reading tells of. */
  #recordsOf(device: DeviceKey, wrecks: DeviceChange[], damaged: string[]): Uint8Array {
    const records: Uint8Array[] = [];
    const parts = this.#parts.get(device) ?? [];
    for (let part = 0; part < parts.length; part += 2) {
      const loaded = this.#rows[parts[part] ?? 0];
      if (loaded === undefined) continue;
      const { seq, row } = loaded;
      const index = parts[part + 1] ?? 0;
      try {
        records.push(row.recordsAt(index));
      } catch (error) {
        const why = damageOf(error);
        if (why === undefined) throw error;
        damaged.push(`log row ${seq}, device ${device}: ${why}`);
        wrecks.push(wreckOf(device, this.#through, row.moment, row.rawAt(index)));
      }
    }
    return Buffer.concat(records);
  }

  #compacted(device: DeviceKey, records: Uint8Array, damaged: string[]): readonly DeviceChange[] {
    const changes = compact({
      device,
      records,
      heads: this.#reader.heads(device, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY),
      since: this.#reader.since(device),
      open: (head) => this.#reader.open(device, head, ({ what }) => damaged.push(`${what}, device ${device}`)),
    });
    return Array.from(changes, (change) => ({ ...change, device, number: this.#through }));
  }

  unload(): void {
    this.#parts = new Map();
    this.#rows = [];
  }
}

/** Bytes that can't be read, kept where a block would be: no block's checksum fits them. */
function wreckOf(device: DeviceKey, number: number, moment: number, bytes: Uint8Array): DeviceChange {
  return { device, number, put: [{ first: moment, last: moment, count: 0, data: Uint8Array.from(bytes) }], remove: [] };
}
