import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Log } from "../../ports/log.ts";

const others = 0o077;
const sticky = 0o1000;

/** Files whose modes are looked at: all that the service and its command line write into the data folder. */
const ownFiles =
  /^(?:(?:waybeam|positions|lock)\.db(?:-(?:wal|shm|journal))?|lock\.pid|(?:credentials\.json|secret\.key)(?:\.(?:new|old))?|token)$/;
/**
 * The operator may have put the database elsewhere, with a link in its place: what is linked to is what holds the data.
 */
const maybeLinked = /^(?:waybeam|positions)\.db/;

const foreignAdvice =
  "Whoever owns it can replace what is in it: give it to the user that runs the service (chown), or choose another folder by WAYBEAM_DATA.";
const openAdvice =
  "Take the rights of others away (chmod go-rwx), or choose a folder of the service's own by WAYBEAM_DATA.";

/**
 * Makes sure that only their owner can read the data folder and the service's files in it, whoever made them. The log
 * says what was mended. What can't be mended is logged with advice and does not stop the start: volumes of containers
 * often belong to another user, and the files in them are closed all the same. `uid`: of the user that runs the
 * service. Undefined on systems without user ids and these modes.
 */
export function closeToOthers(directory: string, uid: number | undefined, log: Log): void {
  if (uid === undefined) return;
  const mended: string[] = [];
  const folder = statSync(directory);
  // A folder that all share, as /tmp, is not ours to close.
  const shared = (folder.mode & sticky) !== 0;
  if (shared || (!closed(directory, folder, mended) && folder.uid === uid))
    log.warn({ folder: directory }, `others can look into the data folder. ${openAdvice}`);
  if (folder.uid !== uid)
    log.warn({ folder: directory, owner: folder.uid }, `the data folder belongs to another user. ${foreignAdvice}`);
  for (const name of readdirSync(directory).filter((each) => ownFiles.test(each))) {
    const file = join(directory, name);
    const found = (maybeLinked.test(name) ? statSync : lstatSync)(file, { throwIfNoEntry: false });
    if (found === undefined || !found.isFile()) continue;
    if (!closed(file, found, mended)) log.warn({ file }, `others can read a file of the service. ${openAdvice}`);
    if (found.uid !== uid)
      log.warn({ file, owner: found.uid }, `a file of the service belongs to another user. ${foreignAdvice}`);
  }
  if (mended.length > 0)
    log.warn(
      { mended },
      "others could read these; now only their owner can. Somebody may have read keys in them: replace those keys",
    );
}

/** Says where others can read a file that the operator keeps: its modes are the operator's to mend. */
export function tellOpen(file: string, log: Log): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined && (found.mode & others) !== 0)
    log.warn({ file }, "others can read the secret key. Take their rights away (chmod go-rwx)");
}

/** Takes away the rights of others. Returns false when that fails. */
function closed(path: string, { mode }: { readonly mode: number }, mended: string[]): boolean {
  if ((mode & others) === 0) return true;
  try {
    chmodSync(path, mode & 0o7777 & ~others);
  } catch {
    return false;
  }
  mended.push(path);
  return true;
}

/**
 * Makes a file that only its owner reads, whatever the umask says; one that is there stays as it is. SQLite gives its
 * log and index the same mode.
 */
export function makePrivate(file: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  } catch {
    // It is there, or can't be made: opening it tells why.
    return;
  }
  try {
    fchmodSync(descriptor, 0o600);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes a new file that only its owner can read. The file is on disk when this returns. */
export function writePrivate(file: string, text: string): void {
  writeNew(file, text, undefined);
}

/**
 * Replaces a file by one that only its owner can read. Afterwards the new text is whole and on disk, or the old file is
 * unchanged. A file that the superuser writes gets the owner of the old file, or else of the folder, so that the
 * service can read it.
 */
export function replacePrivate(file: string, text: string): void {
  const made = `${file}.new`;
  rmSync(made, { force: true });
  try {
    writeNew(made, text, statSync(file, { throwIfNoEntry: false }) ?? statSync(dirname(file)));
    renameSync(made, file);
  } catch (error) {
    rmSync(made, { force: true });
    throw error;
  }
  sync(dirname(file));
}

/** `owner`: who gets the file if the superuser writes it. */
function writeNew(file: string, text: string, owner: { readonly uid: number; readonly gid: number } | undefined): void {
  const descriptor = openSync(file, "wx", 0o600);
  try {
    fchmodSync(descriptor, 0o600);
    if (owner !== undefined && fstatSync(descriptor).uid === 0) fchownSync(descriptor, owner.uid, owner.gid);
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns when a file, or a folder's list of names, is on disk. */
export function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
