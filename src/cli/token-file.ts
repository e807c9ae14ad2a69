import { constants, open, readFile } from "node:fs/promises";

/**
 * Keeps a token between commands, beside the credentials that it was made with: a script of many commands would soon
 * reach the limit of token requests. The file is readable by its owner only, like the credentials; a token that is too
 * old is refused by the service and renewed.
 */
export async function writeToken(file: string, token: string): Promise<void> {
  try {
    // Never through a link that stands in its place.
    const { O_CREAT, O_TRUNC, O_WRONLY, O_NOFOLLOW } = constants;
    const handle = await open(file, O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW, 0o600);
    try {
      await handle.chmod(0o600);
      await handle.writeFile(token);
    } finally {
      await handle.close();
    }
  } catch {
    // A folder that can only be read, or a link: the next command asks for a token of its own.
  }
}

/** The token that an earlier command got; undefined where there is none. */
export async function readToken(file: string): Promise<string | undefined> {
  const token = await readFile(file, "utf8").catch(() => "");
  // What is no JWT could not stand in a header.
  return /^[\w.-]{1,4096}$/.test(token) ? token : undefined;
}
