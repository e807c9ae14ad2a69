import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { atEnd } from "./at-end.ts";
import { storeEnvironment } from "./engine.ts";

const root = join(import.meta.dirname, "../..");

/** A running service with data of its own: the real program as a process of its own. */
export interface Service {
  readonly child: ChildProcess;
  readonly url: string;
  readonly devicePort: number;
  readonly directory: string;
  readonly token: string;
  /** What Prometheus gets. */
  metrics(): Promise<string>;
  /** Milliseconds from the start of the process until it was ready. */
  readonly readyAfter: number;
  /** What it told people, on standard error. */
  said(): string;
  /** Ends it as Ctrl-C does; gives its exit code. */
  stop(): Promise<number | null>;
  /** Ends it at once, as a power cut of the process. */
  kill(): Promise<void>;
}

/** A folder for a service's data on the disk of the checkout: a memory file system would make fsync free. */
export function dataFolder(): string {
  const parent = join(root, ".tmp");
  mkdirSync(parent, { recursive: true });
  const directory = mkdtempSync(join(parent, "data-"));
  atEnd(() => removeFolder(directory));
  return directory;
}

/** A data folder that is gone after the test. */
export function folderOf(context: TestContext): string {
  const directory = dataFolder();
  context.after(() => removeFolder(directory));
  return directory;
}

export function removeFolder(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

const metricsToken = "metrics-of-the-tests-and-no-others";

/** Settings of a service that takes free ports. */
export const anyPorts = { WAYBEAM_HTTP_PORT: "0", WAYBEAM_DEVICE_PORT: "0" };

/** Where a service that was started listens. */
export interface Places {
  readonly url: string;
  readonly devicePort: number;
}

/** Waits until a service says where it listens. Fails where it ends before. */
export function placesOf(child: ChildProcess): Promise<Places> {
  let said = "";
  return new Promise((resolve, reject) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-10_000);
      const found = /REST API +(\S+)\/api .*\n +Trackers +port (\d+)/.exec(said);
      if (found !== null) resolve({ url: String(found[1]), devicePort: Number(found[2]) });
    });
    child.once("exit", (code) => reject(new Error(`the service ended with ${code} before it was ready:\n${said}`)));
  });
}

/** Starts `waybeam serve` and waits until it is ready. Fails where it ends before. */
export async function startService(directory: string, environment: Record<string, string> = {}): Promise<Service> {
  const store = await storeEnvironment(directory);
  const began = performance.now();
  const child = spawn(join(root, "waybeam"), ["serve"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      WAYBEAM_DATA: directory,
      ...anyPorts,
      WAYBEAM_LOG_LEVEL: "warn",
      WAYBEAM_METRICS_TOKEN: metricsToken,
      // A test's or a bench's load comes from one user at one address.
      WAYBEAM_API_REQUESTS_PER_MINUTE: "1000000000",
      ...store,
      ...environment,
    },
  });
  const forget = atEnd(() => end(child, "SIGKILL"));
  child.once("exit", forget);
  const said = listen(child);
  const ready = await started(child, directory, began, said).catch(async (error: unknown) => {
    await end(child, "SIGKILL");
    throw error;
  });
  const { url } = ready;
  return {
    ...ready,
    child,
    directory,
    said,
    metrics: async () => {
      const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
      if (!answer.ok) throw new Error(`/metrics answered ${answer.status}`);
      return answer.text();
    },
    stop: () => end(child, "SIGTERM"),
    kill: async () => {
      await end(child, "SIGKILL");
    },
  };
}

/** Waits until a service is ready. */
async function started(child: ChildProcess, directory: string, began: number, said: () => string) {
  const { url: named, devicePort } = await placesOf(child);
  // An address, not a name: benches and tests open sockets to it.
  const url = named.replace("localhost", "127.0.0.1");
  const readyAfter = await untilReady(url, child, began, said);
  return { url, devicePort, readyAfter, token: await requestToken(url, directory) };
}

/**
 * Keeps what the service says, for the message of a test that fails; warnings and errors of its log are shown at once.
 */
function listen(child: ChildProcess): () => string {
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => process.stderr.write(chunk));
  child.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-10_000);
  });
  return () => said;
}

async function untilReady(url: string, child: ChildProcess, began: number, said: () => string): Promise<number> {
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(`the service ended with ${child.exitCode} before it was ready:\n${said()}`);
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (answer?.ok) return performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The owner's; empty where another process of the service made the owner. */
async function requestToken(url: string, directory: string): Promise<string> {
  const file = join(directory, "credentials.json");
  if (!existsSync(file)) return "";
  const { userName, apiKey } = JSON.parse(readFileSync(file, "utf8"));
  // Of two first starts at once, one may make the owner and the other the operator's key.
  if (apiKey === undefined) return "";
  const answer = await fetch(`${url}/api/Auth/Token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ userName, apiKey }),
  });
  const body = (await answer.json()) as { token?: string; error?: string };
  if (body.token === undefined) throw new Error(`no token: ${body.error}`);
  return body.token;
}

/** Ends a child and waits until it is gone. */
export async function end(child: ChildProcess, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill(signal);
    await gone;
  }
  return child.exitCode;
}

/** Calls the API as the owner; fails on any status but 2xx. */
export async function call<T>(service: Service, method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${service.token}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** Registers devices, some at a time; `progress` hears now and then how many are left. */
export async function register(
  service: Service,
  ids: readonly string[],
  progress?: (left: number) => void,
): Promise<void> {
  const waiting = [...ids];
  const worker = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      await call(service, "POST", "/api/devices", { id, name: id });
      if (waiting.length % 1000 === 0 && waiting.length > 0) progress?.(waiting.length);
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
