import type { DeviceKey } from "../../model/device.ts";
import { byPlace, type LocationRecord } from "../../model/location.ts";
import type { Moment } from "../../ports/store.ts";
import { answeredRecords } from "./answered.ts";
import { chunksMissing } from "./failures.ts";
import { mostLooks, type ReadParts } from "./history.ts";

/** Records that one call to the reader looks at: some milliseconds, so that others get in between. */
const atOnce = 8192;

/** Finds what is stored of one moment. A tracker whose clock stands still may have a month of reports there. */
export class Moments {
  readonly #parts: ReadParts;

  constructor(parts: ReadParts) {
    this.#parts = parts;
  }

  /** See `LocationStore.moment`. */
  async find(device: DeviceKey, time: number): Promise<Moment> {
    await this.#parts.blocks.whole();
    for (let looks = 1; ; looks++) {
      const moment = await this.#try(device, time);
      if (moment !== undefined) return moment;
      if (looks === mostLooks) throw chunksMissing(device);
      await this.#parts.settled();
    }
  }

  /** Resolves with undefined when one of the chunks is gone. */
  async #try(device: DeviceKey, time: number): Promise<Moment | undefined> {
    const { index, reader } = this.#parts;
    const chunks = index.get(device);
    const hashes = new Set<number>();
    let newest: LocationRecord | undefined;
    for (const seqs of chunks?.portions(time, atOnce) ?? []) {
      const answer = await reader.call("moment", { device, seqs, time });
      if (answer === undefined) return undefined;
      for (const hash of answer.hashes) hashes.add(hash);
      const [last] = answeredRecords(answer.newest, device, time);
      if (last !== undefined && (newest === undefined || byPlace(last, newest) > 0)) newest = last;
    }
    return { hashes, ...(newest && { newest }) };
  }
}
