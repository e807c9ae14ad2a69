import { type FileHandle, mkdtemp, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { addCredentials, credentialsFile, readStored, syncNames } from "../credentials-file.ts";
import { CliError } from "./exit.ts";
import type { Host } from "./host.ts";

/** Room that the file of a key takes before the key is made, bytes: far more than a key and its address have. */
const roomBytes = 4096;

/** An API key that the service has just made, which it can't show again. */
export interface NewKey {
  readonly url: string;
  readonly userName: unknown;
  readonly apiKey: unknown;
}

/** What a command prints of a key: the key itself, or the file that holds it. */
export type ShownKey = { readonly apiKey: unknown } | { readonly keyFile: string };

/** The option of every command that makes an API key. */
export function keyFileOption(): Option {
  return new Option("--key-file <file>", "write the API key to this file, which only its owner can read");
}

/**
 * Makes an API key and says where it is. A key is printed to a terminal only; any other output is kept by somebody.
 * There, or with `keyFile`, the key goes to a private file, in the form of `credentials.json`. The file is there, with
 * room on the disk, before the key is made: a key that nobody can keep ends the one before for nothing.
 */
export async function makingKey<T>(
  host: Host,
  command: Command,
  keyFile: string | undefined,
  make: (keep: (key: NewKey) => Promise<ShownKey>) => Promise<T>,
): Promise<T> {
  if (host.terminal.outIsTty && keyFile === undefined)
    return await make(async (key) => {
      host.terminal.err("The API key is not shown again.\n");
      await renewCredentials(host, command, key);
      return { apiKey: key.apiKey };
    });
  if (keyFile !== undefined) await mayBeReplaced(keyFile);
  const folder = keyFile === undefined ? await defaultFolder(host, command) : dirname(resolve(keyFile));
  // A folder that only we can enter: nobody can put a link in the file's place.
  const hidden = await mkdtemp(join(folder, ".api-key-")).catch((error: unknown) => {
    throw cantWrite(folder, error);
  });
  const written = join(hidden, "key");
  let keptAt: string | undefined;
  try {
    await using handle = await open(written, "wx", 0o600);
    await takeRoom(handle, folder);
    return await make(async (key) => {
      const file = keyFile === undefined ? join(folder, `api-key-${fileName(key.userName)}.json`) : resolve(keyFile);
      const text = Buffer.from(`${JSON.stringify(key, null, 2)}\n`);
      await handle.write(text, 0, text.length, 0);
      await handle.truncate(text.length);
      await handle.sync();
      keptAt = await rename(written, file).then(
        () => file,
        () => written,
      );
      // A disk that can't say so keeps the key nevertheless, as long as its power lasts.
      await syncNames(dirname(keptAt)).catch(() => undefined);
      host.terminal.err(
        `The API key is in ${keptAt}, which only its owner can read. The service does not show it again.\n`,
      );
      await renewCredentials(host, command, key);
      return { keyFile: keptAt };
    });
  } finally {
    if (keptAt !== written) await rm(hidden, { recursive: true, force: true });
  }
}

/**
 * Puts the key into `credentials.json` where that holds the one before: the other commands would be refused from now
 * on.
 */
async function renewCredentials(host: Host, command: Command, { url, userName, apiKey }: NewKey): Promise<void> {
  const { data } = await host.readConfig(command.optsWithGlobals<{ config?: string }>().config);
  const file = credentialsFile(data);
  try {
    const stored = await readStored(data);
    const isTheirs = stored?.url === url && stored.userName?.toLowerCase() === String(userName).toLowerCase();
    if (stored === undefined || !isTheirs || typeof apiKey !== "string") return;
    await addCredentials(data, { ...stored, apiKey });
    host.terminal.err(`${file} has the new key too, so the other commands go on.\n`);
  } catch (error) {
    host.terminal.err(`${file} still has the key before (${Object(error).code}): put the new one into it.\n`);
  }
}

/** Fails where the disk is full. */
async function takeRoom(handle: FileHandle, folder: string): Promise<void> {
  try {
    await handle.write(Buffer.alloc(roomBytes, " "), 0, roomBytes, 0);
    await handle.sync();
  } catch (error) {
    throw cantWrite(folder, error);
  }
}

function cantWrite(place: string, error: unknown): CliError {
  const { code } = Object(error);
  return new CliError("failure", `can't write to ${place} (${code})`, "Name a file with --key-file FILE.");
}

/**
 * Fails where the key can't take the place of what is there: a folder, a terminal, a pipe; and where no file can have
 * the name.
 */
async function mayBeReplaced(file: string): Promise<void> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    // A link to nothing is replaced.
    if (error.code !== "ENOENT") throw cantWrite(file, error);
  });
  if (found === undefined || found.isFile()) return;
  throw new CliError("failure", `can't write to ${file} (it is no file)`, "Name a file with --key-file FILE.");
}

/**
 * The folder for key files: the data folder, where the first start keeps its keys too. On a machine without a data
 * folder, the current folder.
 */
async function defaultFolder(host: Host, command: Command): Promise<string> {
  const { data } = await host.readConfig(command.optsWithGlobals<{ config?: string }>().config);
  const found = await stat(data).catch(() => undefined);
  return resolve(found?.isDirectory() ? data : ".");
}

/** A user name as part of a file's name. */
function fileName(userName: unknown): string {
  return String(userName)
    .replaceAll(/[^\w.@+-]/g, "_")
    .slice(0, 200);
}
