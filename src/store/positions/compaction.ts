import type { DeviceKey } from "../../model/device.ts";
import { type Block, packBlock } from "./block.ts";
import { type BlockHead, type Cluster, clustersOf } from "./clusters.ts";
import { Merge, type MergeSource } from "./merge.ts";
import { RecordRun } from "./record-run.ts";
import type { RecordWalk } from "./record-view.ts";
import { SortedRecords } from "./sorted-records.ts";

/** A cluster with fewer records is packed anew with what follows it. */
const small = 256;
/** So many late records beside a block are packed into it, a quarter of a block. */
const manyLate = 256;
/** So many blocks that overlap become one, however few their records are. */
const manyBlocks = 5;

/** Most blocks of a change. */
const mostBlocks = 32;

/** What compaction has of a device. */
export interface DeviceLog {
  readonly device: DeviceKey;
  /** Records of the log, in the order in which they came. */
  readonly records: Uint8Array;
  /** The device's blocks. */
  readonly heads: readonly BlockHead[];
  /** Opens a block; undefined if it is damaged. */
  open(head: BlockHead): RecordWalk | undefined;
  /** Records from before this event time are dropped. */
  readonly since: number;
}

/**
 * Blocks that take the place of others. Each change is whole by itself: the records are in the log until all changes
 * are done.
 */
export interface BlockChange {
  readonly put: readonly Block[];
  /** The blocks whose records are in the new ones. */
  readonly remove: readonly Pick<BlockHead, "id" | "count">[];
}

/** A part of a device's time: a cluster with the records that came into it, or records between clusters. */
interface Part {
  readonly cluster: Cluster | undefined;
  /** Indexes of the new records: [from, to). */
  readonly from: number;
  readonly to: number;
}

/** Packs what the log has of a device into blocks, beside or together with those that it has. Repeats are dropped. */
export function* compact(log: DeviceLog): Iterable<BlockChange> {
  const fresh = sorted(log);
  for (const parts of groupsOf(partsOf(clustersOf(log.heads), fresh))) {
    const [part] = parts;
    if (part === undefined) continue;
    if (parts.length > 1) yield* packed(log, mergedOf(log, fresh, parts));
    else if (part.cluster === undefined) yield* packed(log, { all: fresh, heads: [], ...part });
    else if (part.to > part.from) yield* changesOf(log, fresh, part.cluster, part);
  }
}

/** The new records in order, each once. */
function sorted({ records, since }: DeviceLog): RecordRun {
  const inOrder = RecordRun.inOrder(records, since);
  if (inOrder !== undefined) return inOrder;
  const fresh = new RecordRun(records.byteLength);
  const merge = new Merge([{ first: Number.NEGATIVE_INFINITY, open: () => new SortedRecords(records) }]);
  while (merge.next()) if (merge.time >= since) fresh.add(merge);
  return fresh;
}

/** All parts that have clusters or new records, in the order of time. */
function partsOf(clusters: readonly Cluster[], fresh: RecordRun): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  const add = (cluster: Cluster | undefined, to: number) => {
    if (cluster !== undefined || to > from) parts.push({ cluster, from, to });
    from = to;
  };
  for (const cluster of clusters) {
    add(undefined, fresh.indexAt(cluster.first));
    let to = fresh.indexAt(cluster.last);
    while (fresh.timeAt(to) === cluster.last) to++;
    add(cluster, to);
  }
  add(undefined, fresh.count);
  return parts;
}

/** Puts parts together that are packed into the same blocks: a small cluster and the new records beside it. */
function groupsOf(parts: readonly Part[]): readonly (readonly Part[])[] {
  const groups: Part[][] = [];
  let count = 0;
  let before: Part | undefined;
  for (const part of parts) {
    const own = (part.cluster?.count ?? 0) + part.to - part.from;
    const isBesideNew = (before?.cluster === undefined) !== (part.cluster === undefined);
    const joins = isBesideNew && count < small && (part.cluster === undefined || own < small);
    if (joins && before !== undefined) {
      groups.at(-1)?.push(part);
      count += own;
    } else {
      groups.push([part]);
      count = own;
    }
    before = part;
  }
  return groups;
}

interface ToPack {
  readonly all: RecordRun;
  /** The blocks whose records are among these. */
  readonly heads: readonly BlockHead[];
  readonly from?: number;
  readonly to?: number;
}

/** What was merged, and of it what is new. */
interface Merged {
  readonly all: RecordRun;
  readonly late: RecordRun;
  /** Blocks that could be read. */
  readonly heads: readonly BlockHead[];
}

function mergedOf(log: DeviceLog, fresh: RecordRun, parts: readonly Part[]): Merged {
  const heads: BlockHead[] = [];
  const sources: MergeSource[] = [];
  for (const head of parts.flatMap(({ cluster }) => cluster?.heads ?? [])) {
    const walk = log.open(head);
    if (walk === undefined) continue;
    heads.push(head);
    sources.push({ first: head.first, open: () => walk });
  }
  const added = fresh.slice(parts[0]?.from ?? 0, parts.at(-1)?.to ?? 0);
  const rank = sources.length;
  sources.push({ first: Number.NEGATIVE_INFINITY, open: () => new SortedRecords(added) });
  const all = new RecordRun(added.byteLength * 2);
  const late = new RecordRun(added.byteLength);
  const merge = new Merge(sources);
  while (merge.next()) {
    if (merge.time < log.since) continue;
    all.add(merge);
    if (merge.rank === rank) late.add(merge);
  }
  return { all, late, heads };
}

/** Late records become a block beside those that they came into, or are packed together with these. */
function* changesOf(log: DeviceLog, fresh: RecordRun, cluster: Cluster, part: Part): Iterable<BlockChange> {
  const merged = mergedOf(log, fresh, [part]);
  const { late, heads } = merged;
  if (late.count === 0) return;
  const beside = cluster.count - Math.max(...cluster.heads.map(({ count }) => count));
  const together = heads.length + 1 >= manyBlocks || beside + late.count >= manyLate || cluster.count < small;
  yield* together ? packed(log, merged) : packed(log, { all: late, heads: [] });
}

/** Blocks of all records, or of [from, to), in the place of others. These go with the last of many new ones. */
function* packed({ device }: DeviceLog, { all, heads, from, to }: ToPack): Iterable<BlockChange> {
  let put: Block[] = [];
  for (const records of all.cut(from, to)) {
    if (put.length === mostBlocks) {
      yield { put, remove: [] };
      put = [];
    }
    put.push(packBlock(records, device));
  }
  yield { put, remove: heads };
}
