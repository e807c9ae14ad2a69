/**
 * A static tree of boxes over items that lie in a useful order: neighbours in the order are neighbours in space, as the
 * edges of a ring are. Nodes stand in preorder, so it is walked without a stack: from the root on, `node + 1` to look
 * into a node, `skip[node]` to pass over it.
 */
export interface BoxTree {
  /** For each node its least values, then its greatest, one for each dimension. */
  readonly bounds: Float64Array;
  /** The node after all that is under this one; a leaf's is the next. */
  readonly skip: Int32Array;
  /** Items under a node: from `first` to before `end`. */
  readonly first: Int32Array;
  readonly end: Int32Array;
}

/** Writes the box of an item at a place: least values, then greatest. */
export type BoxWriter = (item: number, into: Float64Array, at: number) => void;

/** Items of a leaf: fewer make the tree larger than what it saves. */
const leafItems = 4;

/** Makes the tree of `count` items. An empty tree has a root that is nowhere. */
export function boxTree(count: number, dimensions: 2 | 3, boxOf: BoxWriter): BoxTree {
  const size = 2 * dimensions;
  const most = 2 * Math.max(1, count);
  const bounds = new Float64Array(most * size);
  const skip = new Int32Array(most);
  const first = new Int32Array(most);
  const end = new Int32Array(most);
  const item = new Float64Array(size);
  let nodes = 0;

  const widen = (node: number, from: Float64Array, at: number): void => {
    for (let axis = 0; axis < dimensions; axis++) {
      const low = node * size + axis;
      const high = low + dimensions;
      bounds[low] = Math.min(bounds[low] ?? 0, from[at + axis] ?? 0);
      bounds[high] = Math.max(bounds[high] ?? 0, from[at + dimensions + axis] ?? 0);
    }
  };
  const build = (from: number, to: number): number => {
    const node = nodes++;
    bounds.fill(Number.POSITIVE_INFINITY, node * size, node * size + dimensions);
    bounds.fill(Number.NEGATIVE_INFINITY, node * size + dimensions, (node + 1) * size);
    first[node] = from;
    end[node] = to;
    if (to - from > leafItems) {
      const middle = (from + to) >> 1;
      widen(node, bounds, build(from, middle) * size);
      widen(node, bounds, build(middle, to) * size);
    } else
      for (let index = from; index < to; index++) {
        boxOf(index, item, 0);
        widen(node, item, 0);
      }
    skip[node] = nodes;
    return node;
  };
  build(0, count);
  return {
    bounds: bounds.slice(0, nodes * size),
    skip: skip.slice(0, nodes),
    first: first.slice(0, nodes),
    end: end.slice(0, nodes),
  };
}
