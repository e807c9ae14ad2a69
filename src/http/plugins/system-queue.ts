import { readFile, readlink } from "node:fs/promises";

/** Where Linux lists the TCP connections of IPv4 and IPv6. */
const tables: readonly string[] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];

/** A connection in such a table: the bytes that its peer has not acknowledged yet, in hex, and the inode of its socket. */
const row = /^ *\d+: \S+ \S+ \S+ ([0-9A-F]+):\S+ \S+ \S+ +\d+ +\d+ (\d+) /gm;

/**
 * Bytes that the system has taken from this process for its peers and that the peers have not acknowledged, by file descriptor. What is not known is absent;
 * on other systems than Linux that is everything.
 */
export async function queuedInSystem(descriptors: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const byInode = new Map<string, number>();
  const queued = new Map<number, number>();
  await Promise.all(
    descriptors.map(async (descriptor) => {
      const inode = /^socket:\[(\d+)\]$/.exec(await readlink(`/proc/self/fd/${descriptor}`).catch(() => ""))?.[1];
      if (inode !== undefined) byInode.set(inode, descriptor);
    }),
  );
  if (byInode.size === 0) return queued;
  for (const table of tables) {
    const text = await readFile(table, "latin1").catch(() => "");
    for (const [, bytes = "", inode = ""] of text.matchAll(row)) {
      const descriptor = byInode.get(inode);
      if (descriptor !== undefined) queued.set(descriptor, Number.parseInt(bytes, 16));
    }
  }
  return queued;
}
