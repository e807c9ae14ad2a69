import { lstat, open, readFile, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { networkTest } from "./model/network.ts";

/** What the command line needs to reach the service: as the first account's owner, and as the operator. */
export interface StoredCredentials {
  readonly userName?: string;
  readonly apiKey?: string;
  readonly operatorKey?: string;
  /** Of the link that sets the owner's first password. */
  readonly firstToken?: string;
  readonly url: string;
  /** Where trackers connect, as host and port. */
  readonly trackers?: string;
}

/** How clients of this machine reach what listens on a host: a wildcard address listens on every one. */
export function reachedAt(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
  return `${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** Whether only this machine reaches what listens on a host. */
export function isOfThisMachine(host: string): boolean {
  return host === "localhost" || networkTest("loopback")(host);
}

/** Where the credentials of a data folder are. */
export function credentialsFile(directory: string): string {
  return join(directory, "credentials.json");
}

/**
 * Writes the credentials so that they are whole or not there, on disk when this resolves, readable by their owner only.
 * A link in its place is replaced, not followed.
 */
async function writeCredentials(directory: string, credentials: StoredCredentials): Promise<void> {
  const file = credentialsFile(directory);
  // Left there by an interrupted start, or by somebody who wants it to be written elsewhere.
  await unlink(`${file}.new`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  const handle = await open(`${file}.new`, "wx", 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(`${JSON.stringify(credentials, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
  await syncNames(directory);
}

/**
 * Returns when the names of a folder's files are on disk: until then, a power cut may take away a file that is on disk
 * itself.
 */
export async function syncNames(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Puts these beside what the file holds already; makes it where there is none. */
export async function addCredentials(directory: string, credentials: StoredCredentials): Promise<void> {
  await writeCredentials(directory, { ...(await readStored(directory)), ...credentials });
}

/**
 * Notes where the service listens now, for clients of this machine. A file that was removed or replaced by something
 * else stays so.
 */
export async function updatePlaces(directory: string, places: { url: string; trackers: string }): Promise<void> {
  const stored = await readStored(directory);
  if (stored === undefined || (stored.url === places.url && stored.trackers === places.trackers)) return;
  await writeCredentials(directory, { ...stored, ...places });
}

/**
 * What the file holds; undefined where there is none, or something else, a link to one included: that is somebody
 * else's to keep up.
 */
export async function readStored(directory: string): Promise<StoredCredentials | undefined> {
  const file = credentialsFile(directory);
  try {
    if ((await lstat(file)).isSymbolicLink()) return undefined;
    return parse(await readFile(file, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function parse(text: string): StoredCredentials | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { userName, apiKey, operatorKey, firstToken, url, trackers }: Readonly<Record<string, unknown>> = { ...value };
  if (typeof url !== "string") return undefined;
  return {
    ...(typeof userName === "string" && { userName }),
    ...(typeof apiKey === "string" && { apiKey }),
    ...(typeof operatorKey === "string" && { operatorKey }),
    ...(typeof firstToken === "string" && { firstToken }),
    url,
    ...(typeof trackers === "string" && { trackers }),
  };
}
