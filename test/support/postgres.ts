import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { openPostgresRows } from "../../src/store/postgres/open.ts";
import { atEnd } from "./at-end.ts";
import { freePort } from "./free-port.ts";
import { silentLog } from "./silent-log.ts";

/** Where Debian puts the programs, which are not on the PATH there. */
const debian = "/usr/lib/postgresql";

/** The folder of `initdb` and `postgres`: the newest of Debian's, or one of the PATH. */
function programs(): string | undefined {
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((one, other) => Number(other) - Number(one)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  return folders.find((folder) => ["initdb", "postgres"].every((name) => existsSync(join(folder, name))));
}

const folder = programs();

/** Why tests with a server are skipped; false where they are not. */
export const noPostgres: string | false =
  folder === undefined && "PostgreSQL is not installed: apt-get install postgresql";

/** Whom the server runs as: it refuses to be root. */
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const [, , uid, gid] = lines.find(([name]) => name === "postgres") ?? lines.find(([name]) => name === "nobody") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** The database of a test's server that `PostgresServer.makeTemplate` made. */
export const template = "waybeam_template";

/** What a test asks of its server. */
export interface ServerOptions {
  /** Where its folder is made. Unset: where temporary files are. */
  readonly folder?: string;
  /** Whether it writes through to the disk. Unset: it does not, since no test cuts the power. */
  readonly fsync?: boolean;
  /** More files beside its data, by their names. */
  readonly files?: Readonly<Record<string, string>>;
  /** More lines of `postgresql.conf`, such as `["ssl", "on"]`. */
  readonly settings?: readonly (readonly [name: string, value: string])[];
}

/** A server of a test's own. It ends with the test file's process, whatever becomes of that. */
export class PostgresServer {
  readonly directory: string;
  readonly port: number;
  /** The file of what the server logs. */
  readonly log: string;
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  #databases = 0;
  #pid = 0;

  private constructor(directory: string, port: number, options: ServerOptions) {
    this.directory = directory;
    this.log = join(directory, "log");
    this.port = port;
    this.#options = options;
  }

  /** Makes and starts one. Its texts are ordered as in English unless a column says otherwise. */
  static async start(options: ServerOptions = {}): Promise<PostgresServer> {
    const directory = mkdtempSync(join(options.folder ?? tmpdir(), "waybeam-postgres-"));
    const owner = unprivileged();
    if (owner !== undefined) chownSync(directory, owner.uid, owner.gid);
    const secret = ["--username=waybeam", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"];
    const words = ["--locale-provider=icu", "--icu-locale=en-US", "--no-sync"];
    execFileSync(program("initdb"), [`--pgdata=${join(directory, "data")}`, ...secret, ...words], {
      ...owner,
      cwd: directory,
      stdio: "pipe",
    });
    for (const [name, text] of Object.entries(options.files ?? {})) {
      const file = join(directory, "data", name);
      writeFileSync(file, text, { mode: 0o600 });
      if (owner !== undefined) chownSync(file, owner.uid, owner.gid);
    }
    const server = new PostgresServer(directory, await freePort(), options);
    atEnd(() => server.dispose());
    await server.run();
    return server;
  }

  /** The address of a database. */
  url(database: string, parameters = ""): string {
    return `postgresql://waybeam@127.0.0.1:${this.port}/${database}${parameters}`;
  }

  /** Makes a database, and tells its address. */
  async database(definition = ""): Promise<string> {
    const name = `test_${++this.#databases}`;
    await this.ask("postgres", `create database ${name} ${definition}`);
    return this.url(name);
  }

  /**
   * Makes an empty store, of which `create database ... template` makes copies: quicker than all migrations for each.
   */
  async makeTemplate(): Promise<void> {
    await this.ask("postgres", `create database ${template}`);
    const rows = await openPostgresRows(this.url(template), { log: silentLog });
    await rows.close();
  }

  /** From now on a role needs its password. */
  async guard(role: string): Promise<void> {
    const file = join(this.directory, "data", "pg_hba.conf");
    writeFileSync(file, `host all ${role} 127.0.0.1/32 scram-sha-256\n${readFileSync(file, "utf8")}`);
    await this.ask("postgres", "select pg_reload_conf()");
  }

  /** Runs SQL in a database, as the server's owner. */
  async ask(database: string, question: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const client = new pg.Client({ connectionString: this.url(database) });
    await client.connect();
    try {
      const answer: pg.QueryResult<Record<string, unknown>> = await client.query(question);
      return answer.rows;
    } finally {
      await client.end();
    }
  }

  /** Starts it, again after `stop`. */
  async run(): Promise<void> {
    const sockets = join(this.directory, "sockets");
    const owner = unprivileged();
    mkdirSync(sockets, { recursive: true });
    if (owner !== undefined) chownSync(sockets, owner.uid, owner.gid);
    chmodSync(this.directory, 0o700);
    const { fsync = false, settings = [] } = this.#options;
    const lines = [
      ["port", String(this.port)],
      ["listen_addresses", "127.0.0.1"],
      ["unix_socket_directories", sockets],
      ["fsync", fsync ? "on" : "off"],
      ["max_connections", "60"],
      ["shared_buffers", "32MB"],
      ...settings,
    ];
    const parameters = lines.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const command = [program("postgres"), "-D", join(this.directory, "data"), ...parameters];
    // The shell outlives this process where it is killed: then its input ends, and it ends the server.
    const script =
      '"$@" & child=$!; echo $child; (cat; kill -QUIT $child 2>/dev/null) <&3 & wait $child; kill $! 2>/dev/null';
    const log = openSync(this.log, "a");
    this.#child = spawn("sh", ["-c", `exec 3<&0; ${script}`, "sh", ...command], {
      ...owner,
      cwd: this.directory,
      stdio: ["pipe", "pipe", log],
    });
    closeSync(log);
    const [first] = await once(this.#child.stdout ?? this.#child, "data");
    this.#pid = Number.parseInt(String(first), 10);
    await this.#untilReady();
  }

  /** Whether it was started, and has not ended. */
  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null;
  }

  /** The process of the server itself. */
  get pid(): number {
    return this.#pid;
  }

  async #untilReady(): Promise<void> {
    for (let tries = 0; ; tries++)
      try {
        await this.ask("postgres", "select 1");
        return;
      } catch (error) {
        if (tries === 1200) throw error;
        await pause(50);
      }
  }

  /**
   * Ends it. `fast`: it ends what its clients do · `immediate`: as if it had crashed · `killed`: all of its processes
   * are killed.
   */
  async stop(how: "fast" | "immediate" | "killed" = "fast"): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    // It may have ended by itself, on a full disk perhaps.
    const gone = child.exitCode === null ? once(child, "exit") : undefined;
    if (gone !== undefined && how === "killed") await killTree(this.#pid);
    else if (gone !== undefined) signal(this.#pid, how === "fast" ? "SIGINT" : "SIGQUIT");
    await gone;
    child.stdin?.destroy();
  }

  async dispose(): Promise<void> {
    await this.stop("immediate");
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/**
 * Kills a process and its children, and waits until all are gone: while one is left, the server does not start again.
 */
async function killTree(parent: number): Promise<void> {
  // Stopped first: otherwise it would start new children while these are killed.
  signal(parent, "SIGSTOP");
  const children = childrenOf(parent);
  for (const pid of [parent, ...children.map(Number)]) signal(pid, "SIGKILL");
  while (children.some(runs)) await pause(10);
}

function childrenOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  } catch {
    // It has ended.
    return [];
  }
}

/** Signals a process unless it has ended. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function runs(pid: string): boolean {
  try {
    // What nobody waits for stays in the list of processes after its end.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function program(name: string): string {
  if (folder === undefined) throw new Error("PostgreSQL is not installed");
  return join(folder, name);
}
