import { readFileSync } from "node:fs";
import { replacePrivate } from "../sqlite/private-files.ts";
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
 * The keys in a file, the newest first: each a line of base64 that stands for 32 bytes (`openssl rand -base64 32` makes
 * one); lines that begin with # are passed over. Returns undefined when there is no such file. Throws
 * `SecretKeyUnusable`.
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

/**
 * Writes the keys, so that the file is whole or as it was, on disk when this returns and readable by its owner only.
 * Throws `SecretKeyUnusable`.
 */
export function writeKeys(file: string, keys: readonly SecretKey[]): void {
  try {
    replacePrivate(file, `${about}${keys.map(({ bytes }) => bytes.toString("base64")).join("\n")}\n`);
  } catch (error) {
    const advice = "Let the user that runs the service write it, or set WAYBEAM_SECRET_FILE to another place.";
    throw new SecretKeyUnusable(`can't write the secret key ${file} (${codeOf(error)})`, advice, error);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
