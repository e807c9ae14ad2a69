import { chmod, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";

/** What the command line needs to reach the service as its owner. */
export interface StoredCredentials {
  readonly userName: string;
  readonly apiKey: string;
  readonly url: string;
}

/** Where the credentials of a data folder are. */
export function credentialsFile(directory: string): string {
  return join(directory, "credentials.json");
}

/** Writes the credentials so that they are whole or not there, on disk when this resolves, readable by their owner only. */
export async function writeCredentials(directory: string, credentials: StoredCredentials): Promise<void> {
  const file = credentialsFile(directory);
  const handle = await open(`${file}.new`, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(credentials, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  // A file that was there from an interrupted start keeps the mode that it was made with.
  await chmod(`${file}.new`, 0o600);
  await rename(`${file}.new`, file);
}

/** Notes where the service listens now, for clients of this machine. A file that was removed or replaced by something else stays so. */
export async function updateUrl(directory: string, url: string): Promise<void> {
  const text = await readFile(credentialsFile(directory), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return;
  const stored = parse(text);
  if (stored !== undefined && stored.url !== url) await writeCredentials(directory, { ...stored, url });
}

function parse(text: string): StoredCredentials | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    if (!("userName" in value && "apiKey" in value && "url" in value)) return undefined;
    const { userName, apiKey, url } = value;
    const texts = typeof userName === "string" && typeof apiKey === "string" && typeof url === "string";
    return texts ? { userName, apiKey, url } : undefined;
  } catch {
    return undefined;
  }
}
