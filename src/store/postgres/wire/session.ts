import pg from "pg";
import { EngineError } from "../../locations/failures.ts";
import { endOf } from "../ending.ts";
import { messageOf, standbyWait, troubleOf } from "../errors.ts";
import { noTransactionLimit, probeMs, type Times } from "../times.ts";
import type { ServerAddress } from "../url.ts";
import { fieldsOf, Messages, pipelineOf, type Statement, type Step } from "./messages.ts";
import { Row, type Value } from "./values.ts";

/** SQLSTATE of a connection that broke. */
const connectionFailure = "08006";
/** The share of a call's time limit that the network may add before the connection counts as lost. */
const latePart = 0.25;

/** A statement's result. */
export interface Result {
  readonly rows: readonly Row[];
  /** The command and, for some commands, how many rows it concerned: `UPDATE 3`, `COMMIT`. */
  readonly tag: string;
}

/** How many rows a statement changed, found or deleted. */
export function changedBy({ tag }: Result): number {
  return Number(/\d+$/.exec(tag)?.[0] ?? 0);
}

/** How a session is opened. */
export interface SessionOptions {
  readonly address: ServerAddress;
  readonly times: Times;
  /** The session's name in the server's list (application_name). */
  readonly name: string;
  /** Parameters of the server for this session. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Steps that were sent together. */
interface Run {
  readonly steps: readonly Step[];
  readonly results: { rows: Row[]; tag: string }[];
  /** Statements that this run still has to prepare. */
  readonly preparing: Statement[];
  failure: EngineError | undefined;
  resolve(results: readonly Result[]): void;
  reject(error: Error): void;
}

/** Makes a step of a run. */
export function step(statement: Statement, ...values: Value[]): Step {
  return { statement, values };
}

/**
 * A connection that sends several statements at once, with all values in binary form. `pg` connects, because it knows TLS and the ways to authenticate. After that the session alone
 * uses the socket.
 */
export class Session {
  readonly #client: pg.Client;
  readonly #times: Times;
  readonly #runs: Run[] = [];
  /** Statements that are prepared, or will be by a run that is under way. */
  readonly #prepared = new Set<Statement>();
  /** The step of the first run that is under way. */
  #at = 0;
  #deadline: NodeJS.Timeout | undefined;
  /** Why the session can't be used any more. */
  #lost: EngineError | undefined;

  private constructor(client: pg.Client, times: Times) {
    this.#client = client;
    this.#times = times;
    const messages = new Messages((kind, body) => this.#told(kind, body));
    const { stream } = client.connection;
    stream.removeAllListeners("data");
    stream.on("data", (piece: Buffer) => {
      try {
        messages.add(piece);
      } catch (error) {
        this.#lose(error instanceof Error ? error.message : String(error));
      }
    });
    client.on("error", (error) => this.#lose(error.message));
    client.on("end", () => this.#lose("the connection ended"));
  }

  /** Connects. Rejects with an `EngineError`. */
  static async open({ address, times, name, settings }: SessionOptions): Promise<Session> {
    const client = new pg.Client({
      ...address,
      application_name: name,
      keepAlive: true,
      keepAliveInitialDelayMillis: probeMs,
      connectionTimeoutMillis: times.connect,
      query_timeout: answerMs(times),
    });
    client.on("error", () => {});
    try {
      await client.connect();
      const set = Object.keys(settings).map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, false)`);
      await client.query(`select ${[...set, noTransactionLimit].join(", ")}`, Object.entries(settings).flat());
      return new Session(client, times);
    } catch (error) {
      client.connection.stream.destroy();
      throw openFailure(error);
    }
  }

  /** Whether the connection broke or was ended. */
  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /**
   * Runs statements one after the other in one round trip, and in one transaction unless they begin their own. Rejects with the error of the first that fails; those after it are not
   * run. If the connection breaks, it is not known which were run.
   */
  run(...steps: Step[]): Promise<readonly Result[]> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    return new Promise((resolve, reject) => {
      const preparing = [...new Set(steps.map(({ statement }) => statement))].filter((one) => !this.#prepared.has(one));
      for (const statement of preparing) this.#prepared.add(statement);
      const bytes = pipelineOf(steps, preparing);
      this.#runs.push({
        steps,
        results: steps.map(() => ({ rows: [], tag: "" })),
        preparing,
        failure: undefined,
        resolve,
        reject,
      });
      if (this.#runs.length === 1) this.#watch();
      this.#client.connection.stream.write(bytes);
    });
  }

  /** Breaks the connection without waiting for what is under way. */
  destroy(why: string): void {
    this.#lose(why);
  }

  /** Ends the session when all runs are answered, or when the time limit for answers is over. */
  async end(): Promise<void> {
    if (this.#lost !== undefined) return;
    const lost = lostBy("the session was ended");
    this.#lost = lost;
    clearTimeout(this.#deadline);
    await endOf(this.#client, this.#runs.length === 0 ? this.#times.connect : answerMs(this.#times));
    for (const run of this.#runs.splice(0)) run.reject(run.failure ?? lost);
  }

  #watch(): void {
    clearTimeout(this.#deadline);
    // `end` has its own time limit.
    if (this.#runs.length === 0 || this.#lost !== undefined) return;
    this.#deadline = setTimeout(() => this.#lose("the server did not answer in time"), answerMs(this.#times));
  }

  #lose(why: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = lostBy(why);
    clearTimeout(this.#deadline);
    this.#client.connection.stream.destroy();
    for (const run of this.#runs.splice(0)) run.reject(run.failure ?? this.#lost);
  }

  #told(kind: string, body: Buffer): void {
    const [run] = this.#runs;
    switch (kind) {
      case "D":
        run?.results[this.#at]?.rows.push(new Row(body));
        return;
      case "C": {
        const result = run?.results[this.#at];
        if (result !== undefined) result.tag = body.toString("latin1", 0, body.length - 1);
        this.#at++;
        return;
      }
      case "1":
        run?.preparing.shift();
        return;
      case "E":
        this.#failed(run, body);
        return;
      case "N":
        // The server goes on as if the standby had it. Who asked must not be told so.
        if (fieldsOf(body).get("R") === standbyWait) this.#lose("the wait for the standby was cut off");
        return;
      case "Z":
        this.#ready();
    }
  }

  #failed(run: Run | undefined, body: Buffer): void {
    const fields = fieldsOf(body);
    const message = fields.get("M") ?? "";
    const code = fields.get("C") ?? "";
    const severity = fields.get("V");
    // The server closes the connection after such an error. It may come without a run, and while a commit is under way.
    const isLast = severity === "FATAL" || severity === "PANIC";
    const trouble = troubleOf(code) ?? (isLast ? "down" : undefined);
    if (run !== undefined) run.failure ??= new EngineError({ message, trouble, code });
    if (isLast) this.#lose(message);
  }

  #ready(): void {
    const run = this.#runs.shift();
    this.#at = 0;
    this.#watch();
    for (const statement of run?.preparing ?? []) this.#prepared.delete(statement);
    if (run?.failure !== undefined) run.reject(run.failure);
    else run?.resolve(run.results);
  }
}

function answerMs({ statement }: Times): number {
  return statement * (1 + latePart);
}

function lostBy(why: string): EngineError {
  return new EngineError({
    message: `the connection to the database was lost: ${why}`,
    trouble: "down",
    code: connectionFailure,
  });
}

function openFailure(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  const message = error instanceof Error ? messageOf(error) : String(error);
  return new EngineError({
    message,
    trouble: troubleOf(code ?? connectionFailure) ?? "down",
    code: code ?? connectionFailure,
  });
}
