import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { keyBytes, type SecretKey, secretKey } from "./vault.ts";

/** The file of the secret keys can't be used, or its keys are not those of the database. `advice` says what to do. */
export class SecretKeyUnusable extends Error {
  override readonly name = "SecretKeyUnusable";
  readonly advice: string;

  constructor(message: string, advice: string, cause?: unknown) {
    super(message, { cause });
    this.advice = advice;
  }
}

const about = `# Keys of the secrets in waybeam.db, the newest first. Back this file up apart from the database: without it they can't be read.
`;

/**
 * The keys in a file, the newest first: each a line of base64 that stands for 32 bytes (`openssl rand -base64 32` makes one); lines that begin with # are passed over.
 * Undefined: there is no such file. Throws `SecretKeyUnusable`.
 */
export function readKeys(file: string): readonly [SecretKey, ...SecretKey[]] | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    const advice = "Let the user that runs the service read it.";
    throw new SecretKeyUnusable(`can't read the secret key ${file} (${codeOf(error)})`, advice, error);
  }
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const [first, ...more] = lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => keyOf(line, file));
  if (first === undefined) throw unusable(file, "it holds none");
  return [first, ...more];
}

function keyOf(line: string, file: string): SecretKey {
  const bytes = Buffer.from(line, "base64");
  if (bytes.length !== keyBytes || !/^[\w+/-]+={0,2}$/.test(line))
    throw unusable(file, `a line is not ${keyBytes} bytes in base64`);
  return secretKey(bytes);
}

function unusable(file: string, why: string): SecretKeyUnusable {
  return new SecretKeyUnusable(`can't use the secret key ${file}: ${why}`, "Put the file back from a backup.");
}

/** Writes the keys, so that the file is whole or as it was, on disk when this returns and readable by its owner only. Throws `SecretKeyUnusable`. */
export function writeKeys(file: string, keys: readonly SecretKey[]): void {
  const made = `${file}.new`;
  try {
    rmSync(made, { force: true });
    const descriptor = openSync(made, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
    try {
      fchmodSync(descriptor, 0o600);
      giveToOwner(descriptor, file);
      writeFileSync(descriptor, `${about}${keys.map(({ bytes }) => bytes.toString("base64")).join("\n")}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(made, file);
    syncFolder(dirname(file));
  } catch (error) {
    const advice = "Let the user that runs the service write it, or set WAYBEAM_SECRET_FILE to another place.";
    throw new SecretKeyUnusable(`can't write the secret key ${file} (${codeOf(error)})`, advice, error);
  }
}

/** What the superuser writes belongs to who had the file, or else the folder: the service must be able to read it. */
function giveToOwner(descriptor: number, file: string): void {
  const { uid, gid } = statSync(file, { throwIfNoEntry: false }) ?? statSync(dirname(file));
  if (uid !== 0 && fstatSync(descriptor).uid === 0) fchownSync(descriptor, uid, gid);
}

/** The name is on disk too. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
