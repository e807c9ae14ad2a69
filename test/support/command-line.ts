import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { CliError } from "../../src/cli/exit.ts";
import type { Host, Service } from "../../src/cli/host.ts";
import { run } from "../../src/cli/run.ts";

/** What the stand-in was asked. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

/** What it answers. */
export interface Reply {
  readonly status?: number;
  readonly body: unknown;
  /** JSON Lines in place of the body. */
  readonly lines?: readonly unknown[];
  /** The text of a live stream in place of the body. */
  readonly events?: string;
  readonly headers?: Record<string, string>;
}

/** A stand-in for the API that answers as the test says, and remembers what it was asked. Token requests succeed. */
export async function api(context: TestContext, answer: (request: Request) => Reply) {
  const requests: Request[] = [];
  let tokens = 0;
  const server = createServer(async (incoming: IncomingMessage, response) => {
    const asked = Buffer.concat(await incoming.toArray()).toString();
    const { method = "", url = "", headers } = incoming;
    const body: unknown = asked === "" ? undefined : JSON.parse(asked);
    const request = { method, path: url, authorization: headers.authorization, body };
    requests.push(request);
    const isToken = url === "/api/Auth/Token";
    const reply = isToken ? { body: { success: true, token: `token${++tokens}` } } : answer(request);
    response.writeHead("status" in reply ? (reply.status ?? 200) : 200, "headers" in reply ? reply.headers : {});
    const lines = "lines" in reply ? reply.lines : undefined;
    const events = "events" in reply ? reply.events : undefined;
    const text = lines?.map((line) => `${JSON.stringify(line)}\n`).join("") ?? events;
    response.end(text ?? JSON.stringify(reply.body));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  assert.ok(address && typeof address === "object");
  return { url: `http://127.0.0.1:${address.port}`, requests };
}

/** What a command finds around it; everything has a default. */
export interface Setup {
  readonly url?: string;
  readonly env?: Record<string, string>;
  readonly input?: string;
  readonly data?: string;
  readonly service?: Service;
  /** Standard output is a terminal. */
  readonly outIsTty?: boolean;
  /** Standard error is a terminal. */
  readonly errIsTty?: boolean;
  /** Ctrl-C is pressed when what was printed is like this. */
  readonly until?: RegExp;
  /** ms that pass between two looks at the monotonic clock; 100 where absent. */
  readonly step?: number;
}

/** Runs the program in this process with a host of the test's own. */
export async function waybeam(args: readonly string[], setup: Setup = {}) {
  const interrupt = new AbortController();
  const { until = /Waybeam is running/, step = 100 } = setup;
  let [out, err, monotonic] = ["", "", 0];
  const host: Host = {
    terminal: {
      input: Readable.from([setup.input ?? ""]),
      out: async (text) => {
        out += text;
        if (until.test(out)) interrupt.abort();
      },
      err: (text) => {
        err += text;
        if (until.test(err)) interrupt.abort();
      },
      outIsTty: setup.outIsTty === true,
      errIsTty: setup.errIsTty === true,
      columns: 100,
    },
    env: setup.env ?? { WAYBEAM_URL: setup.url ?? "", WAYBEAM_USER: "owner@example.com", WAYBEAM_API_KEY: "key" },
    clock: { now: () => Date.UTC(2026, 10, 21), monotonic: () => (monotonic += step) },
    interrupted: interrupt.signal,
    version: "1.2.3",
    readConfig: async () => ({
      data: setup.data ?? "/nowhere",
      settings: [
        { key: "http.port", value: 8080, from: "default", env: "WAYBEAM_HTTP_PORT", unit: "port", meaning: "port" },
      ],
    }),
    startService: async () => {
      if (!setup.service) throw new CliError("inUse", "the port is in use");
      return setup.service;
    },
    rotateSecret: async () => "data/secret.key",
    backup: () => Promise.reject(new Error("no data folder")),
    restore: () => Promise.reject(new Error("no data folder")),
    check: () => Promise.reject(new Error("no data folder")),
    moveStore: () => Promise.reject(new Error("no data folder")),
  };
  const code = await run(args, host);
  return { code, out, err };
}

/** An answer that is a success. */
export const ok = (payload: object): Reply => ({ body: { success: true, error: null, ...payload } });
/** An answer that is a failure. */
export const failure = (status: number, error: string, details?: string[], headers = {}): Reply => ({
  status,
  headers,
  body: { success: false, error, details },
});
