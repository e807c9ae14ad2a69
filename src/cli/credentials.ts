import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "./exit.ts";
import type { Host } from "./host.ts";
import { isRecord } from "./text.ts";

/** Who asks, and where. */
export interface Credentials {
  readonly url: string;
  readonly userName: string;
  readonly apiKey: string;
  /** Where the token is kept between commands; absent where the credentials are not the data folder's own. */
  readonly tokenFile?: string;
}

/** The service's operator, who has no user, and where to ask. */
export interface OperatorCredentials {
  readonly url: string;
  readonly operatorKey: string;
}

const fallbackUrl = "http://localhost:8080";

/**
 * Credentials of the commands that ask the service: each from its variable (WAYBEAM_URL, WAYBEAM_USER, WAYBEAM_API_KEY)
 * where that is set, otherwise from `credentials.json` of the data folder, which the service's first start writes.
 * `url` is what the command line said.
 */
export async function findCredentials(host: Host, configFile?: string, url?: string): Promise<Credentials> {
  const { WAYBEAM_URL, WAYBEAM_USER, WAYBEAM_API_KEY } = host.env;
  const given = url || WAYBEAM_URL;
  if (WAYBEAM_USER && WAYBEAM_API_KEY)
    return { url: checked(given || fallbackUrl), userName: WAYBEAM_USER, apiKey: WAYBEAM_API_KEY };
  const { data } = await host.readConfig(configFile);
  const stored = await readCredentials(join(data, "credentials.json"));
  const own = !given && !WAYBEAM_USER && !WAYBEAM_API_KEY;
  return {
    url: checked(given || stored.url),
    userName: WAYBEAM_USER || stored.userName,
    apiKey: WAYBEAM_API_KEY || stored.apiKey,
    ...(own && { tokenFile: join(data, "token") }),
  };
}

/** Credentials of the operator's commands: from WAYBEAM_URL and WAYBEAM_OPERATOR_KEY, or from the same file. */
export async function findOperator(host: Host, configFile?: string, url?: string): Promise<OperatorCredentials> {
  const { WAYBEAM_URL, WAYBEAM_OPERATOR_KEY } = host.env;
  const given = url || WAYBEAM_URL;
  if (given && WAYBEAM_OPERATOR_KEY) return { url: checked(given), operatorKey: WAYBEAM_OPERATOR_KEY };
  const { data } = await host.readConfig(configFile);
  const file = join(data, "credentials.json");
  const hint = "Set WAYBEAM_OPERATOR_KEY to the key that the service's first start showed.";
  const reading = readFields(file, { missing: hint, damaged: hint });
  const stored = await (WAYBEAM_OPERATOR_KEY ? reading.catch(() => ({})) : reading);
  const { url: place = fallbackUrl, operatorKey: kept }: Readonly<Record<string, unknown>> = stored;
  const operatorKey = WAYBEAM_OPERATOR_KEY || kept;
  if (typeof operatorKey !== "string") throw new CliError("denied", `${file} has no operatorKey`, hint);
  return { url: checked(given || String(place)), operatorKey };
}

/**
 * Where trackers connect to the service whose credentials the data folder holds; undefined where another service is
 * asked, or the file does not say.
 */
export async function findTrackers(
  host: Pick<Host, "env" | "readConfig">,
  configFile?: string,
  url?: string,
): Promise<{ readonly host: string; readonly port: number } | undefined> {
  if (url || host.env.WAYBEAM_URL) return undefined;
  const { data } = await host.readConfig(configFile);
  const file = join(data, "credentials.json");
  const { trackers } = await readFields(file, { missing: "", damaged: "" }).catch(() => ({ trackers: undefined }));
  const place = `tcp://${trackers}`;
  if (typeof trackers !== "string" || !URL.canParse(place)) return undefined;
  const { hostname, port } = new URL(place);
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

/** For a file that is there and no use: the service knows only hashes of the keys and can't write them again. */
const restoreHint =
  "Repair the file or put it back from a backup, or set WAYBEAM_URL, WAYBEAM_USER and WAYBEAM_API_KEY.";

/** Reads a credentials file. */
export async function readCredentials(file: string): Promise<Credentials> {
  const {
    url = fallbackUrl,
    userName,
    apiKey,
  } = await readFields(file, {
    missing:
      "The first start of the service makes it (./waybeam serve). Where there was one, put it back from a backup. Or set WAYBEAM_URL, WAYBEAM_USER and WAYBEAM_API_KEY.",
    damaged: restoreHint,
  });
  if (typeof url !== "string" || typeof userName !== "string" || typeof apiKey !== "string")
    throw new CliError("denied", `${file} lacks url, userName or apiKey`, restoreHint);
  return { url, userName, apiKey };
}

/** What to do where there is no such file, and where it can't be used. */
interface Hints {
  readonly missing: string;
  readonly damaged: string;
}

async function readFields(file: string, hints: Hints): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const cause = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (cause === "ENOENT") throw new CliError("denied", `no credentials: there is no ${file}`, hints.missing);
    throw new CliError("denied", `no credentials: ${file} can't be read (${cause})`, hints.damaged);
  }
  const content = parse(text);
  if (!isRecord(content)) throw new CliError("denied", `${file} is not a JSON object`, hints.damaged);
  return content;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function checked(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "http:" && parsed?.protocol !== "https:")
    throw new CliError("usage", `not an address of the service: ${url}`, `Give one like ${fallbackUrl}.`);
  return url.replace(/\/+$/, "");
}
