import assert from "node:assert/strict";
import type { LightMyRequestResponse } from "fastify";
import { checkRule, needsOfRule, RuleTrial } from "../../src/alerts/index.ts";
import { hashApiKey, makeApiKey } from "../../src/auth/api-key.ts";
import { createMemoryBus, type MemoryBus } from "../../src/bus/memory.ts";
import { bootstrap } from "../../src/domain/accounts.ts";
import { Follower } from "../../src/follow/follower.ts";
import { FoldedHistories } from "../../src/history/histories.ts";
import { defaultLimits, type HttpLimits } from "../../src/http/limits.ts";
import { createHttp, type HttpServer } from "../../src/http/server.ts";
import type { HttpDeps } from "../../src/http/services.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import type { User } from "../../src/model/account.ts";
import type { Report } from "../../src/model/effects.ts";
import type { Quotas } from "../../src/model/quotas.ts";
import { createRecipientAsking } from "../../src/notify/ask-recipient.ts";
import { createLetters } from "../../src/notify/letters.ts";
import { createWebhookCheck } from "../../src/notify/webhook.ts";
import {
  createLog,
  createMetrics,
  createQuarantine,
  createTrace,
  systemClock,
  systemIds,
} from "../../src/observe/index.ts";
import type { Dispatcher } from "../../src/ports/dispatcher.ts";
import type { Mailer } from "../../src/ports/mailer.ts";
import type { Quarantine } from "../../src/ports/quarantine.ts";
import type { PositionKeeper } from "../../src/ports/retention.ts";
import type { SmsSender } from "../../src/ports/sms.ts";
import type { Store } from "../../src/ports/store.ts";
import type { Trace } from "../../src/ports/trace.ts";
import { problemsOfBody } from "../../src/wording/index.ts";
import { atEnd } from "./at-end.ts";
import { onPostgres } from "./engine.ts";
import { eventsOf } from "./event-stream.ts";
import { noAlertEngine } from "./no-alert-engine.ts";
import { type Answered, openApiCheck } from "./openapi.ts";
import { dataFolder, removeFolder } from "./service.ts";
import { openStore } from "./store.ts";
import { newUserOf } from "./users.ts";

/** The operator's key of every test. */
export const operatorKey = "wbo_of-the-tests-and-nothing-else";

/** The token of the metrics in every test. */
export const metricsToken = "metrics-of-the-tests-and-no-others";

/** What accounts but the first may send and hold. */
export const capsOfTests = {
  ...{ dailyEmails: 1000, dailySms: 100, deviceDailyEmails: 100, deviceDailySms: 50 },
  identifiersPerLicense: 4,
};

/**
 * How far all clocks of a test file are ahead, ms. If the next day begins within ten minutes, they begin in that day,
 * because what a test counts by the day must not fall into two days. All clocks share the number, so that a service
 * that starts again does not find itself in the past.
 */
const ahead = aheadOf(systemClock.now());

function aheadOf(now: number): number {
  const left = 86_400_000 - (now % 86_400_000);
  return left < 600_000 ? left + 1000 : 0;
}

/** A clock that a test sets forward. */
export class TestClock {
  #ahead = 0;
  #wall = ahead;
  now = () => systemClock.now() + this.#ahead + this.#wall;
  monotonic = () => systemClock.monotonic() + this.#ahead;

  pass(ms: number): void {
    this.#ahead += ms;
  }
  /** Sets the wall clock forward or back; no time passes. */
  jump(ms: number): void {
    this.#wall += ms;
  }
}

/**
 * An answer with its headers, its body read as JSON where it is JSON; of lines of JSON the last one, of a live stream
 * the first event.
 */
export interface Answer extends Answered {
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and the OpenAPI check has looked before them
  readonly json: any;
}

/** What a test may send. A string body is sent as it is. */
export interface Sent {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address that it comes from; 127.0.0.1 unless said. */
  readonly from?: string;
}

/** The HTTP side over a real store and real ingest. Every answer of `call` is checked against the OpenAPI document. */
export interface Rest {
  readonly http: Omit<HttpServer, "openApi"> & { openApi(): object };
  readonly store: Store;
  readonly bus: MemoryBus;
  readonly clock: TestClock;
  readonly quarantine: Quarantine;
  readonly trace: Trace;
  /** What deletes old positions. */
  readonly keeping: PositionKeeper & { readonly deleted: number };
  readonly directory: string;
  /** Lines of the log at level warn and above. */
  readonly logged: readonly string[];
  /** Undefined on a second start. */
  readonly owner: { readonly userName: string; readonly apiKey: string } | undefined;
  call(method: string, url: string, sent?: Sent): Promise<Answer>;
  /** A token of a new user of an account (the first one unless said). */
  userToken(fields: Partial<User>): Promise<string>;
  ownerToken(): Promise<string>;
  /** Resolves when late reports are folded in their places. */
  followed(): Promise<void>;
  /** Stores what a tracker reports. */
  report(id: string, ...reports: Report[]): Promise<void>;
  stop(): Promise<void>;
}

/** What a test sets: limits, a folder that is there already, and parts of the store that misbehave. */
export interface RestOptions {
  readonly limits?: Partial<HttpLimits>;
  readonly directory?: string;
  readonly spoil?: (store: Store) => Store;
  readonly ready?: boolean;
  readonly requireEncryptedPasswords?: boolean;
  readonly trustProxy?: string;
  /** Folder of a built console; none unless given. */
  readonly consoleFolder?: string;
  readonly mapStyle?: string;
  /** Where it listens; 127.0.0.1 unless said. */
  readonly host?: string;
  /** The way of commands; unless given, no device is connected. */
  readonly dispatcher?: Dispatcher;
  readonly sms?: SmsSender;
  readonly caps?: Partial<HttpDeps["caps"]>;
  readonly resends?: Partial<HttpDeps["resends"]>;
  readonly codeLimits?: Partial<HttpDeps["codeLimits"]>;
  /** Where people outside of accounts reach the service; nowhere unless given. */
  readonly recipientsUrl?: string;
  /** How they are asked; by the mailer and the SMS gateway unless given. */
  readonly asking?: HttpDeps["asking"];
  /** What accounts may have; unless given, as much as they like. */
  readonly quotas?: Quotas;
  /** Where users are told of changes of their way in; nobody is unless given. */
  readonly mailer?: Mailer;
}

/**
 * Whether a process on PostgreSQL says that the others did not hear of it within a second or two, which is for the
 * operator to know: where tests take all processors it happens, and the process tells them again.
 */
function isOfBusyMachine(line: string): boolean {
  return onPostgres && line.includes("this process can't tell the others that it is alive");
}

const unreachable: Dispatcher = {
  dispatch: async () => ({ outcome: "notConnected" }),
  onReachable: () => {},
  where: () => "nowhere" as const,
  onElsewhere: () => {},
};

export async function startRest({
  limits = {},
  directory = dataFolder(),
  spoil,
  ready = true,
  requireEncryptedPasswords = false,
  trustProxy = "",
  consoleFolder = "",
  host = "127.0.0.1",
  dispatcher = unreachable,
  sms,
  mailer,
  caps,
  resends,
  codeLimits,
  recipientsUrl = "",
  asking,
  quotas,
}: RestOptions = {}): Promise<Rest> {
  const logged: string[] = [];
  const log = createLog("warn", { write: (line) => void (isOfBusyMachine(line) || logged.push(line)) });
  const clock = new TestClock();
  const store = await openStore(directory, log);
  const bus = createMemoryBus((error) => log.error({ error }, "bus"));
  const metrics = createMetrics({ processMetrics: false });
  const [quarantine, trace] = [createQuarantine(clock), createTrace(clock)];
  const ids = systemIds;
  const owner = await bootstrap(
    { store, clock, ids, makeApiKey, keep: async () => {} },
    { name: "First", timeZone: "Etc/UTC", licenses: 20, ownerEmail: "Owner@Example.com" },
  );
  const engine = noAlertEngine;
  const follower = new Follower({ store, engine, bus, clock, log, mostLagBytes: 1e9 });
  await follower.start();
  const ingest = new Ingest(
    { maxFutureMs: 600_000 },
    { store, bus, clock, log, metrics: ingestMetrics(metrics), engine, following: follower },
  );
  const letters = createLetters({ mailer, bus, clock, ids, log });
  if (quotas !== undefined) await store.accounts.setUsualQuotas(quotas);
  const served = spoil?.(store) ?? store;
  const histories = new FoldedHistories({ ...served, heads: follower });
  const http = await createHttp(
    { host, port: 0, trustProxy, consoleFolder, limits: { ...defaultLimits, ...limits } },
    {
      store: served,
      bus,
      clock,
      ids,
      log,
      metrics,
      quarantine,
      trace,
      dispatcher,
      presence: { lastSeen: () => undefined, contact: () => undefined, onChange: () => {} },
      sms,
      letters,
      caps: { ...capsOfTests, ...caps },
      asking: asking ?? createRecipientAsking({ mailer, sms, url: recipientsUrl }),
      codeLimits: { codesToAddress: 3, codesOfAccount: 50, perAccount: 1000, ...codeLimits },
      resends: { ofNotice: 5, perMinute: 100, ...resends },
      checkAlertRule: checkRule,
      alertRuleNeeds: needsOfRule,
      checkTemplate: problemsOfBody,
      checkWebhook: createWebhookCheck({ allowPrivate: false }),
      alertTrial: new RuleTrial({
        geofences: served.geofences,
        accounts: served.accounts,
        histories,
        clock,
        ids,
      }),
      operatorKeyHash: hashApiKey(operatorKey),
      requireEncryptedPasswords,
      histories,
      positionKeeper: follower.keeping,
      lastLocations: follower,
      readiness: async () => ({ ready, checks: { store: ready ? "ok" : "failed" } }),
      shownMetrics: { text: () => metrics.text(), tokenHash: hashApiKey(metricsToken) },
    },
  );
  const document = await http.openApi();
  const check = openApiCheck(document);

  async function call(method: string, url: string, sent: Sent = {}): Promise<Answer> {
    const { token, body: given, headers = {}, from } = sent;
    const response = await http.inject({
      method,
      url,
      payloadAsStream: /^\/api\/(?:shared\/)?stream\b/i.test(url),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(given === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(from === undefined ? {} : { remoteAddress: from }),
      ...(given === undefined ? {} : { payload: typeof given === "string" ? given : JSON.stringify(given) }),
    });
    const contentType = response.headers["content-type"]?.toString();
    const body = response.body ?? (await bodyOf(response));
    const answer = { status: response.statusCode, contentType, body };
    check(method, url, answer);
    assert.equal(response.headers["x-content-type-options"], "nosniff", `${method} ${url}`);
    if (/^\/api\//i.test(url)) assert.equal(response.headers["cache-control"], "no-store", `${method} ${url}`);
    const isJson = contentType?.startsWith("application/json") === true && method !== "HEAD";
    const last = contentType === "application/x-ndjson" ? body.trimEnd().split("\n").at(-1) : undefined;
    const text = isJson ? body : last;
    const json =
      text === undefined ? eventsOf(contentType?.startsWith("text/event-stream") ? body : "")[0] : JSON.parse(text);
    return { ...answer, headers: response.headers, json };
  }

  async function tokenFor(userName: string, apiKey: string): Promise<string> {
    const { json } = await call("POST", "/api/Auth/Token", { body: { userName, apiKey } });
    return json.token;
  }

  async function stop(): Promise<void> {
    forget();
    await ingest.stop();
    await follower.stop();
    await http.stop();
    await letters.stop();
    await store.close();
  }
  const forget = atEnd(stop);

  return {
    http: { ...http, openApi: () => document },
    store,
    bus,
    clock,
    quarantine,
    trace,
    keeping: follower.keeping,
    directory,
    logged,
    owner,
    call,
    ownerToken: async () => (owner === undefined ? "" : tokenFor(owner.userName, owner.apiKey)),
    async userToken(fields) {
      const key = makeApiKey(ids);
      const account = fields.accountKey ?? (await store.accounts.list())[0]?.key ?? 0;
      const email = fields.email ?? `${ids.secret(6)}@example.com`;
      const user = await store.users.create(
        newUserOf({ ...fields, id: ids.uuid(), email, accountKey: account, apiKeyHash: key.hash, apiKeyId: key.id }),
        clock.now(),
      );
      return user === "emailInUse" ? "" : tokenFor(email, key.secret);
    },
    async followed() {
      while (follower.behind > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    async report(id, ...reports) {
      const device = await ingest.admit([id]);
      if (device.status !== "admitted") throw new Error(`${id} is ${device.status}`);
      await new Promise<void>((resolve) => ingest.submit(device, reports, clock.now(), () => resolve()));
    },
    stop,
  };
}

/** A body that came in pieces; of a live stream its beginning, the present. */
async function bodyOf(response: LightMyRequestResponse): Promise<string> {
  let body = "";
  for await (const piece of response.stream()) {
    body += piece;
    if (!/^event: live$/m.test(body)) continue;
    response.raw.res.destroy();
    break;
  }
  return body;
}

/** A service that answers the tests of a file, with the owner's token. */
export interface OwnersRest {
  readonly rest: Rest;
  readonly token: string;
}

/** Starts a service with the devices `a`, `b` and `c`, and without limits that a test would reach. */
export async function restWithDevices(): Promise<OwnersRest> {
  const rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 } });
  const token = await rest.ownerToken();
  for (const id of ["a", "b", "c"]) await rest.call("POST", "/api/devices", { token, body: { id } });
  return { rest, token };
}

/** Status and error of an answer. */
export function errorOf({ status, json }: Pick<Answer, "status" | "json">): readonly [number, string] {
  return [status, json.error];
}

/** Stops it and removes its data. */
export async function endRest(rest: Rest): Promise<void> {
  await rest.stop();
  removeFolder(rest.directory);
}
