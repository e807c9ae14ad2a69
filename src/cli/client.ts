import { setTimeout as delay } from "node:timers/promises";
import type { Credentials, OperatorCredentials } from "./credentials.ts";
import { CliError, type ExitName } from "./exit.ts";
import { isRecord, plain } from "./text.ts";
import { readToken, writeToken } from "./token-file.ts";

/** An answer's envelope and payload. */
export type Answer = Readonly<Record<string, unknown>>;

/** An event of a live stream. `event`: absent where only its place is told. */
export interface StreamedEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: Answer;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The longest that a client waits by itself when told to come again later, s: the minute of the API's limits. */
const longestWait = 90;

/** What lists the things that were not found: its command, and how they are called there. */
const listed: Readonly<Record<string, readonly [command: string, things: string]>> = {
  account: ["account", "accounts"],
  device: ["device", "devices"],
  group: ["group", "groups"],
  user: ["user", "users"],
  "alert rule": ["rule", "rules"],
  geofence: ["zone", "zones"],
  notification: ["notice", "notices"],
};

/** An answer as it came. `retryAfter`: s; Infinity where it does not say. */
interface Received {
  readonly status: number;
  readonly answer: Answer;
  readonly retryAfter: number;
}

/** How a client reacts to the world. */
export interface ClientOptions {
  /** Ends requests and waits. */
  readonly signal?: AbortSignal;
  /** Told before the client waits since the service asked it to. */
  readonly onWait?: (seconds: number) => void;
}

/** A failure that the service answered; `text` is its `error`. */
export class ApiFailure extends CliError {
  readonly status: number;
  readonly text: string;

  constructor(status: number, text: string, details: readonly string[], hint: string | undefined) {
    super(exitOf(status), [plain(text), ...details.map(plain)].join(": "), hint);
    this.status = status;
    this.text = text;
  }
}

/** The work; where the service refuses it, the failure's message says of what: `name` comes before it. */
export async function about<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiFailure && error.exit !== "denied") error.message = `${plain(name)}: ${error.message}`;
    throw error;
  }
}

/**
 * Asks the REST API. Gets its token by itself, or from the command before, keeps it, and renews it once when it is
 * refused.
 */
export class ApiClient {
  readonly url: string;
  readonly #credentials: Credentials | OperatorCredentials;
  readonly #options: ClientOptions;
  #token: Promise<string> | undefined;

  constructor(credentials: Credentials | OperatorCredentials, options: ClientOptions = {}) {
    this.url = credentials.url;
    this.#credentials = credentials;
    this.#options = options;
  }

  /** The API key that the token comes from, or the operator's key. */
  get secret(): string {
    return "operatorKey" in this.#credentials ? this.#credentials.operatorKey : this.#credentials.apiKey;
  }

  /** Whether this is the user name that the client asks as. */
  isOwn(userName: unknown): boolean {
    if ("operatorKey" in this.#credentials || typeof userName !== "string") return false;
    return this.#credentials.userName.toLowerCase() === userName.toLowerCase();
  }

  /**
   * One call; `path` begins with /api. Waits and tries again when the service is over its requests a minute. Throws
   * ApiFailure or CliError.
   */
  async call(method: Method, path: string, body?: unknown): Promise<Answer> {
    return await this.#authorized(async (token) => await this.#read(await this.#send(method, path, body, token)));
  }

  /**
   * One call that is answered by JSON Lines. Whatever goes wrong before the first of them is as in `call`; the last one
   * says whether all went well.
   */
  async *lines(method: Method, path: string, body?: unknown): AsyncGenerator<Answer> {
    for await (const line of this.#parts(await this.#open(method, path, body), "\n")) yield recordOf(line);
  }

  /** The events of a live stream, until it ends. Whatever goes wrong before the first of them is as in `call`. */
  async *events(path: string): AsyncGenerator<StreamedEvent> {
    for await (const block of this.#parts(await this.#open("GET", path), "\n\n")) yield eventOf(block);
  }

  async #open(method: Method, path: string, body?: unknown): Promise<Response["body"]> {
    let response: Response | undefined;
    await this.#authorized(async (token) => {
      response = await this.#send(method, path, body, token);
      return response.ok ? { status: response.status, answer: { success: true }, retryAfter: 0 } : this.#read(response);
    });
    return response?.body ?? null;
  }

  /** The parts of a body, as they come, without what ends each. */
  async *#parts(body: Response["body"], end: string): AsyncGenerator<string> {
    let rest = "";
    const decoder = new TextDecoder();
    try {
      for await (const bytes of body ?? []) {
        const parts = (rest + decoder.decode(bytes, { stream: true })).split(end);
        rest = parts.pop() ?? "";
        yield* parts.filter((part) => part !== "");
      }
      if (rest !== "") yield rest;
    } catch (error) {
      if (this.#options.signal?.aborted) throw error;
      throw this.#unreachable(error);
    }
  }

  async #authorized(ask: (token: string) => Promise<Received>): Promise<Answer> {
    // The operator's key stands for itself: there is nothing to renew.
    let renewed = "operatorKey" in this.#credentials;
    for (;;) {
      this.#token ??= this.#firstToken(renewed);
      const { status, answer, retryAfter } = await ask(await this.#token);
      if (answer.success === true) return answer;
      if (status === 401 && !renewed) {
        renewed = true;
        this.#token = undefined;
      } else await this.#waitOrFail(status, answer, retryAfter);
    }
  }

  /** One call about a device. */
  device(method: Method, device: string, rest = "", body?: unknown): Promise<Answer> {
    return about(device, this.call(method, `/api/devices/${encodeURIComponent(device)}${rest}`, body));
  }

  async #firstToken(renew: boolean): Promise<string> {
    if ("operatorKey" in this.#credentials) return this.#credentials.operatorKey;
    const { tokenFile } = this.#credentials;
    return (!renew && tokenFile && (await readToken(tokenFile))) || (await this.#requestToken(this.#credentials));
  }

  async #requestToken({ userName, apiKey, tokenFile }: Credentials): Promise<string> {
    for (;;) {
      const response = await this.#send("POST", "/api/Auth/Token", { userName, apiKey });
      const { status, answer, retryAfter } = await this.#read(response);
      if (typeof answer.token === "string") {
        if (tokenFile) await writeToken(tokenFile, answer.token);
        return answer.token;
      }
      await this.#waitOrFail(status, answer, retryAfter);
    }
  }

  async #waitOrFail(status: number, answer: Answer, retryAfter: number): Promise<void> {
    const text = typeof answer.error === "string" ? answer.error : `the service answered ${status}`;
    const details = Array.isArray(answer.details) ? answer.details.map(String) : [];
    if (text !== "Too Many Requests" || !(retryAfter <= longestWait))
      throw new ApiFailure(status, text, details, this.#hintOf(status, text, retryAfter));
    this.#options.onWait?.(retryAfter);
    await delay(retryAfter * 1000, undefined, this.#options.signal && { signal: this.#options.signal });
  }

  async #send(method: Method, path: string, body: unknown, token?: string): Promise<Response> {
    const { signal = null } = this.#options;
    const headers: Record<string, string> = { Accept: "application/json" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (token !== undefined) headers.Authorization = `Bearer ${token}`;
    const content = body === undefined ? null : JSON.stringify(body);
    try {
      return await fetch(this.url + path, { method, headers, body: content, signal, redirect: "error" });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw this.#unreachable(error);
    }
  }

  async #read(response: Response): Promise<Received> {
    try {
      const answer: unknown = await response.json();
      const retryAfter = Number(response.headers.get("Retry-After") ?? Number.POSITIVE_INFINITY);
      return { status: response.status, answer: isRecord(answer) ? answer : {}, retryAfter };
    } catch (error) {
      if (this.#options.signal?.aborted) throw error;
      throw this.#unreachable(error);
    }
  }

  #hintOf(status: number, text: string, retryAfter: number): string | undefined {
    const variables = "operatorKey" in this.#credentials ? "WAYBEAM_OPERATOR_KEY" : "WAYBEAM_USER and WAYBEAM_API_KEY";
    if (status === 401) return `Check ${variables}, or credentials.json of the data folder.`;
    if (status === 403) return "This user has no privilege for it; ask an admin of the account.";
    const [, kind = ""] = /^(.*) not found$/.exec(text) ?? [];
    const [noun, things] = listed[kind] ?? [];
    if (noun !== undefined) return `\`waybeam ${noun} list\` shows the ${things} that there are.`;
    return Number.isFinite(retryAfter) ? `Try again in ${retryAfter} s.` : undefined;
  }

  #unreachable(error: unknown): CliError {
    if (error instanceof SyntaxError)
      return new CliError("unreachable", `${this.url} answers, but not as this service does`, "Check WAYBEAM_URL.");
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    return new CliError(
      "unreachable",
      `can't reach ${this.url} (${code})`,
      "Is the service running? Start it with ./waybeam serve, or set WAYBEAM_URL to where it is.",
    );
  }
}

function exitOf(status: number): ExitName {
  if (status === 401 || status === 403) return "denied";
  if (status === 404) return "notFound";
  if (status === 409) return "conflict";
  if (status === 400 || status === 415) return "usage";
  return status === 408 || status === 429 || status === 503 ? "busy" : "failure";
}

function eventOf(block: string): StreamedEvent {
  const fields = new Map(
    block.split("\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const;
    }),
  );
  const data = fields.get("data");
  return { id: fields.get("id"), event: fields.get("event"), data: data === undefined ? {} : recordOf(data) };
}

function recordOf(line: string): Answer {
  const value: unknown = JSON.parse(line);
  return isRecord(value) ? value : {};
}
