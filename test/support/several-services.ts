import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { PostgresServer } from "./postgres.ts";
import { call, dataFolder, removeFolder, type Service, startService } from "./service.ts";
import { TcpProxy } from "./tcp-proxy.ts";

/** Files of the first process's folder that an operator copies to the others. */
const copied = ["secret.key", "credentials.json"];

/** One of several processes of a service. */
export class Member {
  readonly service: Service;
  readonly #proxy: TcpProxy;

  constructor(service: Service, proxy: TcpProxy) {
    this.service = service;
    this.#proxy = proxy;
  }

  /** Calls the API as the owner; fails on any status but 2xx. */
  call<T>(method: string, path: string, body?: object): Promise<T> {
    return call(this.service, method, path, body);
  }

  /** Asks the API, as the owner unless headers say otherwise, whatever it answers. */
  async ask(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = { authorization: `Bearer ${this.service.token}` },
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind
  ): Promise<{ readonly status: number; readonly json: any; readonly headers: Headers }> {
    const answer = await fetch(this.service.url + path, {
      method,
      headers: { ...headers, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, json: text === "" ? undefined : JSON.parse(text), headers: answer.headers };
  }

  /** Stops its processor, as a machine that is suspended does. */
  pause(): void {
    this.service.child.kill("SIGSTOP");
  }

  resume(): void {
    this.service.child.kill("SIGCONT");
  }

  /** Nothing goes to the database or comes from there, and no side is told. */
  set isCutOff(isCutOff: boolean) {
    this.#proxy.silent = isCutOff;
    if (!isCutOff) this.#proxy.cut();
  }

  /** Resolves with its exit code when it has ended. */
  get ended(): Promise<number | null> {
    const { child } = this.service;
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
    return new Promise((resolve) => child.once("exit", resolve));
  }

  async kill(): Promise<void> {
    // One that was paused is killed as well.
    await this.service.kill();
  }

  stop(): Promise<number | null> {
    return this.service.stop();
  }
}

/** A service of several processes on one database. They end with their test. */
export class SeveralServices {
  readonly members: Member[] = [];
  readonly #context: TestContext;
  readonly #environment: Record<string, string>;
  readonly #server: PostgresServer;
  readonly #database: string;
  readonly #folders: string[] = [];

  private constructor(
    context: TestContext,
    server: PostgresServer,
    database: string,
    environment: Record<string, string>,
  ) {
    this.#context = context;
    this.#server = server;
    this.#database = database;
    this.#environment = environment;
  }

  /** Starts some, one after the other. */
  static async start(
    context: TestContext,
    server: PostgresServer,
    count: number,
    environment: Record<string, string> = {},
  ): Promise<SeveralServices> {
    const url = new URL(await server.database());
    const services = new SeveralServices(context, server, url.pathname.slice(1), environment);
    for (let at = 0; at < count; at++) await services.join();
    return services;
  }

  /** Starts some at once, in folders with one secret key. */
  static async atOnce(context: TestContext, server: PostgresServer, count: number): Promise<SeveralServices> {
    const url = new URL(await server.database());
    const folder = dataFolder();
    const key = join(folder, "secret.key");
    writeFileSync(key, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    const services = new SeveralServices(context, server, url.pathname.slice(1), { WAYBEAM_SECRET_FILE: key });
    await Promise.all(Array.from({ length: count }, () => services.join()));
    context.after(() => removeFolder(folder));
    return services;
  }

  /** One of them. */
  of(index: number): Member {
    const member = this.members[index];
    if (member === undefined) throw new Error(`there is no process ${index}`);
    return member;
  }

  /** Starts one more. */
  async join(): Promise<Member> {
    const directory = dataFolder();
    const [first] = this.#folders;
    if (first !== undefined)
      for (const name of copied)
        if (existsSync(join(first, name))) copyFileSync(join(first, name), join(directory, name));
    this.#folders.push(directory);
    const proxy = await TcpProxy.start(this.#server.port);
    const url = new URL(this.#server.url(this.#database));
    url.port = String(proxy.port);
    const service = await startService(directory, { ...this.#environment, WAYBEAM_STORE_URL: url.href });
    const member = new Member(service, proxy);
    this.members.push(member);
    this.#context.after(async () => {
      await member.kill();
      proxy.close();
      removeFolder(directory);
    });
    return member;
  }

  /** Runs SQL in their database. */
  query(question: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.#server.ask(this.#database, question);
  }
}
