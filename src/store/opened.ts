import type { DeviceKey } from "../model/device.ts";
import type { Store } from "../ports/store.ts";
import type { ChunkIndex } from "./locations/chunk-index.ts";
import type { Locations } from "./locations/locations.ts";

/** An open store of any engine, with what its operator sees of it. */
export interface OpenedStore extends Store {
  /** Blocks and chunks of the tail: each has an entry in memory. Right after a start, blocks that were not read yet do not count. */
  readonly chunks: number;
  /** How far positions are sealed. */
  readonly sealing: SealingFigures;
  /** Memory of decompressed blocks that are kept. */
  readonly cachedBytes: number;
  /** Resolves when the index has all blocks, and what is damaged of them is told. A start does not wait for that. */
  whole(): Promise<void>;
  /** Throws where blocks could not be read when they were last tried, so that no history can be told. */
  checkBlocks(): void;
  /** Seals what there is of a device, however little. Resolves when that is done. */
  seal(device: DeviceKey): Promise<void>;
  /** The listener is called with the number of refused reports that are deleted before their age, because their device has too many bytes of them. */
  onRefusedDropped(listener: (reports: number) => void): void;
}

/** How far positions are sealed into blocks. */
export interface SealingFigures {
  readonly blocks: number;
  /** Chunks of the tail and their positions. */
  readonly tailChunks: number;
  readonly tailPositions: number;
  /** Devices whose tail is long enough to be sealed, and waits for its turn. */
  readonly waitingDevices: number;
  /** Chunks, ranges of rows and tables that were found damaged since the start. */
  readonly damaged: number;
}

/** Bytes of refused reports that each device may have, unless configured. */
export const usualRefusedBytes = 16 * 1024 * 1024;
/** Records of commands that each device may have, unless configured. */
export const usualCommands = 1000;
/** Notices that each device may have, unless configured. */
export const usualNotices = 10_000;
/** Memory for decompressed blocks, bytes, unless configured. */
export const usualCacheBytes = 32 * 1024 * 1024;

/** Adds what the operator sees to a store. */
export function toldOf(store: Store, index: ChunkIndex, locations: Locations): OpenedStore {
  return {
    ...store,
    get chunks() {
      return index.size;
    },
    get sealing() {
      return sealingOf(index, locations);
    },
    get cachedBytes() {
      return locations.cachedBytes;
    },
    whole: () => locations.blocks.whole(),
    checkBlocks: () => locations.blocks.check(),
    seal: (device) => locations.sealer.now(device),
    onRefusedDropped(listener) {
      locations.onRefusedDropped = listener;
    },
  };
}

function sealingOf({ blocks, tail }: ChunkIndex, { sealer }: Locations): SealingFigures {
  const { waiting: waitingDevices, damaged } = sealer;
  return { blocks, tailChunks: tail.chunks, tailPositions: tail.records, waitingDevices, damaged };
}
