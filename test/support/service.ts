import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

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
  return mkdtempSync(join(parent, "data-"));
}

export function removeFolder(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

const metricsToken = "metrics-of-the-tests-and-no-others";

let nextPort = 21_000 + (process.pid % 900) * 12;

/** Ports for one service; each test process takes them from a range of its own. */
export function freePorts(): { httpPort: number; devicePort: number } {
  return { httpPort: nextPort++, devicePort: nextPort++ };
}

/** Starts `waybeam serve` and waits until it is ready. Fails where it ends before. */
export async function startService(directory: string, environment: Record<string, string> = {}): Promise<Service> {
  const { httpPort, devicePort } = freePorts();
  const began = performance.now();
  const child = spawn(join(root, "waybeam"), ["serve"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      WAYBEAM_DATA: directory,
      WAYBEAM_HTTP_PORT: String(httpPort),
      WAYBEAM_DEVICE_PORT: String(devicePort),
      WAYBEAM_LOG_LEVEL: "warn",
      WAYBEAM_METRICS_TOKEN: metricsToken,
      // A test's or a bench's load comes from one user at one address.
      WAYBEAM_API_REQUESTS_PER_MINUTE: "1000000000",
      ...environment,
    },
  });
  const said = listen(child);
  const url = `http://127.0.0.1:${httpPort}`;
  const readyAfter = await untilReady(url, child, began, said);
  return {
    child,
    url,
    devicePort,
    directory,
    readyAfter,
    said,
    token: await requestToken(url, directory),
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

/** Keeps what the service says, for the message of a test that fails; warnings and errors of its log are shown at once. */
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

async function requestToken(url: string, directory: string): Promise<string> {
  const { userName, apiKey } = JSON.parse(readFileSync(join(directory, "credentials.json"), "utf8"));
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
