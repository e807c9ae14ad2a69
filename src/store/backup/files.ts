import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { LongWork } from "./refused.ts";

/** Bytes that are read and written at once. */
const piece = 1024 * 1024;

/** Size and SHA-256 of a file. */
export interface Sum {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Copies a file into a new one that only its owner can read. The new file is on disk when this returns. Returns what
 * was copied.
 */
export async function copyPrivate(from: string, to: string, work: LongWork): Promise<Sum> {
  const target = await open(to, "wx", 0o600);
  try {
    await target.chmod(0o600);
    const sum = await readThrough(from, work, "copying", (bytes) => target.writeFile(bytes));
    await target.sync();
    return sum;
  } finally {
    await target.close();
  }
}

/** Size and SHA-256 of what a file holds now. */
export async function sumOf(file: string, work: LongWork): Promise<Sum> {
  return await readThrough(file, work, "reading back", async () => {});
}

async function readThrough(
  file: string,
  { signal, progress }: LongWork,
  doing: string,
  use: (bytes: Uint8Array) => Promise<unknown>,
): Promise<Sum> {
  const source: FileHandle = await open(file, "r");
  try {
    const { size } = await source.stat();
    const hash = createHash("sha256");
    const buffer = Buffer.alloc(Math.max(1, Math.min(piece, size)));
    let bytes = 0;
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await source.read(buffer, 0, buffer.length, bytes);
      if (bytesRead === 0) break;
      const some = buffer.subarray(0, bytesRead);
      hash.update(some);
      await use(some);
      bytes += bytesRead;
      progress(() => `${doing}: ${Math.floor((100 * bytes) / Math.max(1, size))} %`);
    }
    return { bytes, sha256: hash.digest("hex") };
  } finally {
    await source.close();
  }
}

/** Whether there is something under this name, were it a link to nothing. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
