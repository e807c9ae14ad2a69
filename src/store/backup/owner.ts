import { lchownSync, lstatSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Gives files that the superuser made in a data folder to the folder's owner, as SQLite does with its files, so that
 * the service can use them.
 */
export function giveToOwner(directory: string, paths: readonly string[]): void {
  const { uid, gid } = statSync(directory);
  if (uid === 0) return;
  for (const path of paths) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.uid !== 0) continue;
    // The owner can put a link in its place, also a hard one: the file that it leads to must not be given away.
    if (found.isDirectory() || (found.isFile() && found.nlink === 1)) lchownSync(path, uid, gid);
  }
}

/** As `giveToOwner`, for the files of the folder's lock. */
export function giveLockToOwner(directory: string): void {
  giveToOwner(
    directory,
    ["lock.db", "lock.pid"].map((name) => join(directory, name)),
  );
}
