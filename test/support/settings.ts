import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type App, startApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/index.ts";
import { settings } from "../../src/config/settings.ts";
import { readStored } from "../../src/credentials-file.ts";
import { protocols } from "../../src/protocols/index.ts";
import { atEnd } from "./at-end.ts";
import { storeEnvironment } from "./engine.ts";
import { Peer, simulatedReport, until } from "./gateway.ts";
import { dataFolder, removeFolder } from "./service.ts";

/** Values of settings by their keys, `http.bodyLimit`. */
export type Values = Readonly<Record<string, string | number | boolean>>;

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: Tests read what the API answers, of any form.
  readonly json: any;
  readonly headers: Headers;
}

/** Settings that are changed for one start of the whole service, and how each of them is seen to act from outside. */
export interface Case {
  /** What is changed. Cutting off any one of them must fail the case. */
  readonly sets: Values | ((beside: Beside) => Values | Promise<Values>);
  /** What they need to act, which other cases look at. */
  readonly beside?: Values | ((beside: Beside) => Values | Promise<Values>);
  readonly acts: (service: Running, values: Values) => Promise<void>;
  /** Why it can't be seen on this machine. False or unset where it can. */
  readonly skip?: string | false;
}

/** What a case may use before its service starts. */
export interface Beside {
  /** Gives what is closed after the case. */
  readonly closing: <T extends { close(): unknown }>(peer: T) => T;
  /** The service's folder. */
  readonly directory: string;
}

/** A port that a server of the case has at 127.0.0.1: a service gets it at another address only. */
export async function portTaken({ closing }: Beside): Promise<number> {
  const server = closing(createServer().listen(0, "127.0.0.1"));
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return address.port;
}

/** Which test file sees a setting act, or all of a group but those that are named elsewhere. */
const files: Readonly<Record<string, readonly string[]>> = {
  http: ["http", "api", "answers", "streams", "links", "passwords", "trips"],
  device: ["device", "ingest"],
  kept: [
    "data",
    "owner",
    "operator",
    "licenses",
    "refused",
    "caps",
    "commands",
    "alerts",
    "secret",
    "store",
    "follow",
    "quotas",
    "notices.keepDays",
    "notices.keptPerDevice",
  ],
  notices: ["notices", "mail", "webhooks", "telegram", "metrics", "log"],
  sms: ["sms"],
  recipients: ["recipients"],
  sessions: ["sessions"],
};

/** The service, whole, with a folder of its own and free ports. */
export class Running {
  readonly app: App;
  readonly directory: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #peers = new Set<Peer>();
  #owner: Promise<string> | undefined;

  private constructor(app: App, directory: string, environment: Readonly<Record<string, string>>) {
    this.app = app;
    this.directory = directory;
    this.#environment = environment;
  }

  static async start(values: Values, directory: string): Promise<Running> {
    const all: Values = { data: directory, "http.port": 0, "device.port": 0, "log.level": "silent", ...values };
    const environment = { ...(await storeEnvironment(directory)), ...environmentOf(all) };
    const loaded = loadConfig({ env: environment });
    if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
    const running = new Running(await startApp(loaded.config, process.pid), directory, environment);
    return running;
  }

  get url(): string {
    return this.app.url.replace("localhost", "127.0.0.1");
  }

  get devicePort(): number {
    return this.app.devicePort;
  }

  /** The variables that it was started with. */
  get environment(): Readonly<Record<string, string>> {
    return this.#environment;
  }

  async request(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const answer = await fetch(this.url + path, { method, ...init });
    const text = await answer.text();
    return { status: answer.status, json: text.startsWith("{") ? JSON.parse(text) : text, headers: answer.headers };
  }

  /** Calls the API, as the owner unless another token is given. */
  async call(method: string, path: string, body?: object, token?: string): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${token ?? (await this.owner())}`,
      ...(body && { "content-type": "application/json" }),
    };
    return this.request(method, path, { headers, ...(body && { body: JSON.stringify(body) }) });
  }

  /** As `call`, for what must succeed. */
  async done(method: string, path: string, body?: object, token?: string): Promise<Answer["json"]> {
    const answer = await this.call(method, path, body, token);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.json)}`);
    return answer.json;
  }

  /** The owner's token. */
  owner(): Promise<string> {
    this.#owner ??= readStored(this.directory)
      .then((stored) => this.token({ userName: stored?.userName, apiKey: stored?.apiKey }))
      .then(({ json }) => json.token);
    return this.#owner;
  }

  /** Asks for a token. */
  token(credentials: object | undefined, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request("POST", "/api/Auth/Token", {
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(credentials),
    });
  }

  /** Registers a device. */
  async device(id: string, fields: object = {}): Promise<void> {
    await this.done("POST", "/api/devices", { id, ...fields });
  }

  /** A connection to the trackers' port. */
  connect(from?: string): Peer {
    const peer = new Peer(this.devicePort, from);
    this.#peers.add(peer);
    return peer;
  }

  /** A connection of a tracker whose first report was acknowledged. */
  async tracker(id: string, from?: string): Promise<Peer> {
    const peer = this.connect(from);
    peer.send(h02Report(id));
    await until(() => peer.received.includes("V4"));
    return peer;
  }

  /** Reports by HTTP, as phones do; gives the status. */
  async report(id: string, time = Date.now(), more = ""): Promise<number> {
    const place = `lat=4.5&lon=-74.25&timestamp=${Math.floor(time / 1000)}${more}`;
    const answer = await fetch(`http://127.0.0.1:${this.devicePort}/?id=${id}&${place}`);
    await answer.arrayBuffer();
    return answer.status;
  }

  async stop(): Promise<void> {
    for (const peer of this.#peers) peer.end();
    await this.app.stop();
  }
}

/** A report of a tracker that speaks H02, which is acknowledged by `*HQ,id,V4,V1,...#`. */
export function h02Report(id: string, time = Date.now()): Uint8Array {
  const simulate = protocols.find((protocol) => protocol.id === "h02")?.simulate;
  assert.ok(simulate);
  return simulate.report(id, [{ ...simulatedReport, time }], 1);
}

/** The environment that sets these. */
export function environmentOf(values: Values): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const setting = settings.find((known) => known.key === key);
      assert.ok(setting, `there is no setting ${key}`);
      return [setting.env, String(value)];
    }),
  );
}

/**
 * Starts the service for each case and sees its settings act. Fails where a setting of the file's groups is in no case,
 * so that none can be added that nobody has seen act. `keys`: those of a case, whose values may be known only when its
 * peers listen.
 */
export function seeThemAct(file: string, cases: readonly (Case & { readonly keys?: readonly string[] })[]): void {
  const keysOf = ({ keys, sets }: (typeof cases)[number]) => keys ?? Object.keys(sets);
  test(`every setting of ${files[file]?.join(", ")} is seen to act`, () => {
    const keys = settings.map(({ key }) => key);
    assert.deepEqual(
      keys.filter((key) => homeOf(key) === undefined),
      [],
      "no test file sees these act",
    );
    const here = keys.filter((key) => homeOf(key) === file);
    const seen = new Set(cases.flatMap(keysOf));
    assert.deepEqual(
      here.filter((key) => !seen.has(key)),
      [],
    );
  });
  for (const one of cases)
    test(keysOf(one).join(", "), { timeout: 60_000, skip: one.skip ?? false }, async ({ signal }) => {
      const directory = dataFolder();
      const open: { close(): unknown }[] = [];
      const closing: Beside["closing"] = (peer) => {
        open.push(peer);
        atEnd(() => peer.close());
        return peer;
      };
      const valuesOf = (given: Case["sets"] | undefined) =>
        typeof given === "function" ? given({ closing, directory }) : given;
      const beside = await valuesOf(one.beside);
      const sets = (await valuesOf(one.sets)) ?? {};
      assert.deepEqual(Object.keys(sets).sort(), [...keysOf(one)].sort());
      const values = { ...beside, ...sets };
      let service: Running | undefined;
      try {
        service = await Running.start(values, directory);
        const over = once(signal, "abort").then(() => Promise.reject(new Error("it was not seen to act")));
        await Promise.race([one.acts(service, values), over]);
      } finally {
        await service?.stop();
        for (const peer of open) await peer.close();
        removeFolder(directory);
      }
    });
}

/**
 * Whether something happens before a time of the test, which is far from both times between which it tells: the one
 * that is set and the default. Where the machine is slow both are late.
 */
export async function happensFirst(event: Promise<unknown>, ms: number): Promise<boolean> {
  const late = new AbortController();
  const time = setTimeout(ms, false, { signal: late.signal }).catch(() => false);
  const first = await Promise.race([event.then(() => true), time]);
  late.abort();
  return first;
}

function homeOf(key: string): string | undefined {
  const holding = (name: string) => Object.keys(files).find((file) => files[file]?.includes(name));
  return holding(key) ?? holding(key.split(".")[0] ?? key);
}
