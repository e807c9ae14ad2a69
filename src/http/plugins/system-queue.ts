import { createReadStream } from "node:fs";
import { readlink } from "node:fs/promises";

/** Where Linux lists the TCP connections of IPv4 and IPv6. */
const systemTables: readonly string[] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];

/** Bytes that are read at a time: Linux gives no more of its tables. */
const pieceBytes = 4096;

/**
 * A connection in such a table: the bytes that its peer has not acknowledged yet, in hex, and the inode of its socket.
 */
const row = /^ *\d+: \S+ \S+ \S+ ([0-9A-F]+):\S+ \S+ \S+ +\d+ +\d+ (\d+) /gm;

/**
 * Bytes that the system has taken from this process for its peers and that the peers have not acknowledged, by file
 * descriptor. What is not known is absent; on other systems than Linux that is everything. It never fails. The tables
 * have a row of 150 bytes for each connection of the machine. They are read piece by piece, and the event loop turns
 * after each.
 */
export async function queuedInSystem(
  descriptors: readonly number[],
  tables: readonly string[] = systemTables,
): Promise<ReadonlyMap<number, number>> {
  const wanted = await byInode(descriptors);
  const queued = new Map<number, number>();
  for (const table of tables) {
    if (wanted.size === 0) break;
    try {
      await readTable(table, wanted, queued);
    } catch {
      // What can't be read is not known.
    }
  }
  return queued;
}

/** The descriptors that are sockets, by inode. One is looked up at a time: there may be thousands. */
async function byInode(descriptors: readonly number[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const descriptor of descriptors) {
    const link = await readlink(`/proc/self/fd/${descriptor}`).catch(() => "");
    const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
    if (inode !== undefined) found.set(inode, descriptor);
  }
  return found;
}

/** Moves what the table lists from `wanted` to `queued`. Ends when nothing is wanted any more. */
async function readTable(table: string, wanted: Map<string, number>, queued: Map<number, number>): Promise<void> {
  let text = "";
  for await (const piece of createReadStream(table, { encoding: "latin1", highWaterMark: pieceBytes })) {
    // The piece before may have ended within a row.
    text = text.slice(text.lastIndexOf("\n") + 1) + piece;
    for (const [, bytes = "", inode = ""] of text.matchAll(row)) {
      const descriptor = wanted.get(inode);
      if (descriptor === undefined) continue;
      queued.set(descriptor, Number.parseInt(bytes, 16));
      wanted.delete(inode);
      if (wanted.size === 0) return;
    }
  }
}
