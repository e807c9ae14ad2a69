import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Runs one of the bench's own programs with an IPC channel, and gives its first message. */
export async function program<T>(
  name: string,
  args: readonly (string | number)[] = [],
): Promise<{ child: ChildProcess; first: T }> {
  const child = fork(join(import.meta.dirname, `${name}.ts`), args.map(String), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const first = await new Promise<T>((resolve, reject) => {
    child.once("message", (message) => resolve(message as T));
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code} before it said anything`)));
  });
  return { child, first };
}

/** Ends a child and waits until it is gone. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  await gone;
}

/** A running service with data of its own. */
export interface Service {
  readonly child: ChildProcess;
  readonly url: string;
  readonly devicePort: number;
  readonly directory: string;
  readonly token: string;
  /** Milliseconds from the start of the process until it was ready. */
  readonly readyAfter: number;
  stop(): Promise<void>;
}

/** A folder for a service's data on the disk of the checkout: a memory file system would make fsync free. */
export function dataFolder(): string {
  const parent = join(root, "bench", ".data");
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "run-"));
}

export function removeFolder(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

let nextPort = 21_000 + (process.pid % 500) * 20;

/** Starts `waybeam serve` on ports of its own and waits until it says that it is ready. */
export async function startService(directory: string, environment: Record<string, string> = {}): Promise<Service> {
  const httpPort = nextPort++;
  const devicePort = nextPort++;
  const began = performance.now();
  const child = fork(join(root, "src/main.ts"), ["serve"], {
    cwd: root,
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: {
      ...process.env,
      WAYBEAM_DATA: directory,
      WAYBEAM_HTTP_PORT: String(httpPort),
      WAYBEAM_DEVICE_PORT: String(devicePort),
      WAYBEAM_LOG_LEVEL: "warn",
      // The load comes from one user at one address.
      WAYBEAM_API_REQUESTS_PER_MINUTE: "1000000000",
      ...environment,
    },
  });
  const url = `http://127.0.0.1:${httpPort}`;
  const readyAfter = await untilReady(url, child, began);
  return { child, url, devicePort, directory, readyAfter, token: await token(url, directory), stop: () => end(child) };
}

async function untilReady(url: string, child: ChildProcess, began: number): Promise<number> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode} before it was ready`);
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (answer?.ok) return performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function token(url: string, directory: string): Promise<string> {
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

/** Calls the API as the owner; fails on any other status than 2xx. */
export async function call(service: Service, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${service.token}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Registers devices, some at a time, with progress. */
export async function register(service: Service, ids: readonly string[]): Promise<void> {
  const waiting = [...ids];
  const worker = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      await call(service, "POST", "/api/devices", { id, name: id });
      if (waiting.length % 1000 === 0 && waiting.length > 0)
        process.stderr.write(`  ${waiting.length} devices to register\n`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

/** Resident memory of a process, bytes (Linux: /proc/PID/status). */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}
