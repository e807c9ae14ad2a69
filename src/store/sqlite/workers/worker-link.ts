import { getCompileCacheDir } from "node:module";
import { type Transferable, Worker } from "node:worker_threads";
import type { Log } from "../../../ports/log.ts";
import { StoreUnavailable } from "../../../ports/store.ts";
import { storeError } from "../../failures.ts";
import type { Calls } from "./calls.ts";
import type { AnswerMessage, RequestMessage } from "./messages.ts";

interface Waiting {
  resolve(answer: never): void;
  reject(error: Error): void;
}

/** Where a worker's code is, and what it may use. */
export interface WorkerKind {
  readonly name: string;
  readonly file: URL;
  /** Upper bound of its JavaScript heap, MB; buffers and SQLite's own memory are outside of it. */
  readonly heapMb: number;
  /** Its young generation, MB: 2 unless said, since what lives there lives for one call, and it is never given back. */
  readonly youngMb?: number;
  /** Whether its thread gives way to all others. */
  readonly givesWay?: boolean;
}

/** What a worker is started with. */
export interface WorkerOrder {
  readonly database: string;
  readonly givesWay: boolean;
}

/**
 * Where a worker starts. Node's cache of compiled code holds for the thread that turned it on only: one that has it
 * loads these files in a third of the time, and without the TypeScript compiler, which takes 20 MB in each thread. So
 * the worker turns it on too before it loads its file.
 */
function startOf(file: URL): URL {
  const cache = getCompileCacheDir();
  if (cache === undefined) return file;
  const code = `import { enableCompileCache } from "node:module";
    enableCompileCache(${JSON.stringify(cache)});
    await import(${JSON.stringify(file.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

/** Calls to a worker that owns a database connection. A worker that died is started again by the next call. */
export class WorkerLink<C extends Calls<C>> {
  readonly #kind: WorkerKind;
  readonly #database: string;
  readonly #log: Log;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #nextId = 1;
  #generation = 0;
  #closing = false;
  #closed = false;

  constructor(kind: WorkerKind, database: string, log: Log) {
    this.#kind = kind;
    this.#database = database;
    this.#log = log;
  }

  /** Which worker since the start this is: what a worker held open (a transaction) is gone with it. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Rejects with `StoreUnavailable` where the engine can't be used, or where the worker died before it answered: then
   * the call may have been done. `transfer`: buffers that are handed over.
   */
  call<K extends keyof C & string>(
    name: K,
    request: C[K]["request"],
    transfer: readonly Transferable[] = [],
  ): Promise<C[K]["answer"]> {
    if (this.#closed) return Promise.reject(new StoreUnavailable("the store is closed"));
    return new Promise((resolve, reject) => {
      const worker = this.#running();
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      try {
        worker.postMessage({ id, name, request } satisfies RequestMessage, transfer);
      } catch (error) {
        // What can't be cloned has not left: no answer will come.
        this.#waiting.delete(id);
        reject(error);
      }
    });
  }

  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const { file, name, heapMb, youngMb = 2, givesWay = false } = this.#kind;
    const worker = new Worker(startOf(file), {
      name,
      workerData: { database: this.#database, givesWay } satisfies WorkerOrder,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb },
    });
    worker.on("message", (message: AnswerMessage) => this.#answered(message));
    // Whose answer it was can't be told: without its end, that call would wait for ever.
    worker.on("messageerror", () => void worker.terminate());
    worker.on("error", (error) => this.#log.error({ worker: name, error: String(error) }, "store worker failed"));
    worker.on("exit", (code) => this.#exited(worker, code));
    this.#worker = worker;
    this.#generation++;
    return worker;
  }

  #answered(message: AnswerMessage): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (waiting === undefined) return;
    if ("failure" in message) waiting.reject(storeError(message.failure));
    // The name of the call ties its answer's type; the worker's handlers are checked against the same types.
    else waiting.resolve(message.answer as never);
  }

  #exited(worker: Worker, code: number): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#generation++;
    if (!this.#closing)
      this.#log.error({ worker: this.#kind.name, code }, "store worker ended; the next call starts it again");
    // A worker ends by itself only where its heap is full.
    const error = new StoreUnavailable("the store's worker ended", undefined, "exhausted");
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }

  /** Kills the worker as a crash of it would; the next call starts another one. */
  async terminate(): Promise<void> {
    await this.#worker?.terminate();
  }

  /** Ends the worker by its last call. */
  async close(lastCall: () => Promise<unknown>): Promise<void> {
    const worker = this.#worker;
    this.#closing = true;
    if (worker === undefined || this.#closed) {
      this.#closed = true;
      return;
    }
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    try {
      await lastCall();
    } catch (error) {
      this.#log.error({ worker: this.#kind.name, error: String(error) }, "store worker could not close its database");
      await worker.terminate();
    }
    this.#closed = true;
    await ended;
  }
}
