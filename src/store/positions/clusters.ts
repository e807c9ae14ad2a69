/** What a block's row says without its bytes. */
export interface BlockHead {
  readonly id: number;
  /** Event times of its first and its last record. */
  readonly first: number;
  readonly last: number;
  /**
   * Of blocks that overlap, the one with the greater number has what came later; of equal numbers, the one with the
   * greater id.
   */
  readonly number: number;
  readonly count: number;
}

/** Blocks that overlap, with all that overlap these. Most clusters are one block. */
export interface Cluster {
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** In the order in which their records came. */
  readonly heads: readonly BlockHead[];
}

/** The order in which records of blocks came. */
export function byArrival(one: BlockHead, other: BlockHead): number {
  return one.number - other.number || one.id - other.id;
}

/** The clusters of a device's blocks, in the order of event time. */
export function clustersOf(heads: readonly BlockHead[]): Cluster[] {
  const clusters: Cluster[] = [];
  let open: BlockHead[] = [];
  let last = Number.NEGATIVE_INFINITY;
  const close = () => {
    const [first] = open;
    if (first === undefined) return;
    const count = open.reduce((sum, head) => sum + head.count, 0);
    clusters.push({ first: first.first, last, count, heads: open.toSorted(byArrival) });
  };
  for (const head of heads.toSorted((one, other) => one.first - other.first)) {
    if (head.first > last) {
      close();
      open = [];
    }
    open.push(head);
    last = Math.max(last, head.last);
  }
  close();
  return clusters;
}
