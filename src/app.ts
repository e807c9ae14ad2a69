import { checkRule, needsOfRule, RuleEngine, RuleTrial } from "./alerts/index.ts";
import { hashApiKey, makeApiKey, makeOperatorKey } from "./auth/api-key.ts";
import { hashSessionToken, makeSessionToken } from "./auth/session-token.ts";
import { matchesTrackerSecret as matchesSecret } from "./auth/tracker-secret.ts";
import { createSharedBus } from "./bus/shared.ts";
import { type Config, secretFile } from "./config/index.ts";
import {
  addCredentials,
  credentialsFile,
  isOfThisMachine,
  reachedAt,
  readStored,
  updatePlaces,
} from "./credentials-file.ts";
import { bootstrap } from "./domain/accounts.ts";
import { type Expiry, ExpiryWatch } from "./domain/expiry.ts";
import { firstToken } from "./domain/first-password.ts";
import { bootstrapOperator, type OperatorKey } from "./domain/operator.ts";
import { Retention } from "./domain/retention.ts";
import { Follower } from "./follow/follower.ts";
import { measureFollower } from "./follow/metrics.ts";
import { createGateway, type Gateway } from "./gateway/index.ts";
import { FoldedHistories } from "./history/histories.ts";
import { type MetricsServer, shownMetrics, startOwnMetrics } from "./http/metrics-server.ts";
import { createHttp, type HttpOptions, type HttpServer } from "./http/server.ts";
import type { HttpDeps } from "./http/services.ts";
import { Ingest } from "./ingest/ingest.ts";
import { ingestMetrics, measureIngest } from "./ingest/metrics.ts";
import { capsBy } from "./model/caps.ts";
import { createRecipientAsking } from "./notify/ask-recipient.ts";
import { createLetters, type PostOffice } from "./notify/letters.ts";
import { createOutbox, type Outbox } from "./notify/outbox.ts";
import { createTelegramSender } from "./notify/telegram.ts";
import { createWebhookCheck, createWebhookSender } from "./notify/webhook.ts";
import {
  createHealth,
  createLog,
  createMetrics,
  createQuarantine,
  createTrace,
  giveBackMemory,
  type Health,
  type MetricsRegistry,
  systemClock,
  systemIds,
  systemUser,
} from "./observe/index.ts";
import type { Clock } from "./ports/clock.ts";
import type { Log } from "./ports/log.ts";
import type { Mailer } from "./ports/mailer.ts";
import type { SmsSender } from "./ports/sms.ts";
import type { Store } from "./ports/store.ts";
import { protocols } from "./protocols/index.ts";
import { measureStore } from "./store/figures.ts";
import { openStore as openStoreOf } from "./store/open.ts";
import type { OpenedStore } from "./store/opened.ts";
import { certificatesOf } from "./tls/of-ports.ts";
import { problemsOfBody } from "./wording/index.ts";

/** The running service. */
export interface App {
  /** Address of the REST API, as a client on this machine reaches it. */
  readonly url: string;
  /** The address that the REST API listens on, where others reach it by plain HTTP. */
  readonly plainAt?: string;
  readonly devicePort: number;
  /** What the first start made: the owner's way in, known only now. */
  readonly created?: { readonly userName: string; readonly apiKey: string };
  /** The operator's key, where this start made it. */
  readonly operatorKey?: string;
  /** The page that sets the owner's first password; its link is good until there is one. */
  readonly firstLink?: string;
  /** Where these are kept for clients of this machine. */
  readonly credentialsFile: string;
  /** Rejects when the store can't go on because other processes of the service have taken over. Never resolves. */
  readonly failed: Promise<never>;
  /** Takes no more, commits and acknowledges what was received, closes. */
  stop(): Promise<void>;
}

/**
 * Builds every part from the configuration, starts them in the order of their needs, and stops them in the other.
 * `pid`: this process, for the store's lock; `clock`: a test's own.
 */
export async function startApp(config: Config, pid: number, clock = systemClock): Promise<App> {
  const metrics = createMetrics({ processMetrics: true });
  const lost = metrics.counter("waybeam_log_lines_lost_total", "Lines of the log that could not be written.", [])({});
  const log = createLog(config.log.level, undefined, () => lost.add(1));
  const failure = Promise.withResolvers<never>();
  // Not every caller waits for it: without this, its rejection would end the process.
  failure.promise.catch(() => undefined);
  const store = await openStore(config, log, pid, { onTakenOver: failure.reject });
  try {
    const app = await startParts(config, { log, metrics, store, clock });
    return {
      ...app,
      failed: failure.promise,
      async stop() {
        await app.stop();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function openStore(
  config: Config,
  log: Log,
  pid: number,
  { rotate = false, ...more }: { readonly rotate?: boolean; readonly onTakenOver?: (error: unknown) => void } = {},
): Promise<OpenedStore> {
  return openStoreOf({
    ...{
      url: config.store.url,
      connections: config.store.connections,
      directory: config.data,
      log,
      pid,
      uid: systemUser,
      ...more,
    },
    secrets: { file: secretFile(config), ids: systemIds, rotate },
    ...{ refusedBytes: config.refused.bytesPerDevice, commandsPerDevice: config.commands.keptPerDevice },
    noticesPerDevice: config.notices.keptPerDevice,
    ...{ packFromBytes: config.store.packFromBytes, mostLogBytes: config.store.mostLogBytes },
  });
}

/** Seals all secrets of a data folder that no service uses by a new key. Answers the key's file. */
export async function rotateSecret(config: Config, pid: number): Promise<string> {
  const store = await openStore(config, createLog("error"), pid, { rotate: true });
  await store.close();
  return secretFile(config);
}

async function startParts(
  config: Config,
  { log, metrics, store, clock }: { log: Log; metrics: MetricsRegistry; store: OpenedStore; clock: Clock },
): Promise<Omit<App, "failed">> {
  const bus = createSharedBus(store.processes, (error) => log.error({ error }, "a listener of the bus failed"));
  const [ids, quarantine, trace] = [systemIds, createQuarantine(clock), createTrace(clock)];

  const certificates = await certificatesOf({ http: config.http.tls, device: config.device.tls }, log);
  const operator = await store.alone(async () => {
    await firstAccount(config, store);
    return operatorKey(config, store);
  });
  const { engine, ingest, follower, histories, kept } = createIngest(config, { store, bus, clock, ids, log, metrics });
  const gateway = createGateway(
    { ...config.device, limits: config.device, tls: certificates.device },
    { protocols, intake: ingest, clock, ids, log, metrics, trace, quarantine, bus, matchesSecret },
  );
  const retention = new Retention({ store, clock, log, settings: config, ...kept });
  const expiry = new ExpiryWatch({ devices: store.devices, bus, clock, log });
  const { sms, mailer, letters, asking } = await createSenders(config, { bus, clock, ids, log, metrics });
  const health = healthOf(store, { ingest, follower }, clock, log);
  const http = await createHttp(httpOptions(config, certificates.http), {
    ...{ store, bus, clock, ids, log, metrics, quarantine, trace, sms, letters, asking },
    ...{ dispatcher: gateway.dispatcher, presence: gateway.presence },
    ...{ checkAlertRule: checkRule, alertRuleNeeds: needsOfRule },
    histories,
    alertTrial: new RuleTrial({ ...store, histories, clock: systemClock, ids: systemIds }),
    operatorKeyHash: operator.hash,
    ...limitsOf(config),
    lastLocations: follower,
    ...kept,
    readiness: () => health.ready(),
    shownMetrics: config.metrics.listen === "" ? shownMetrics(config.metrics, () => metrics.text()) : undefined,
  }).catch(async (error: unknown) => {
    await sms?.close();
    await mailer?.close();
    throw error;
  });
  const outbox = await outboxOf(config, { store, histories, bus, clock, ids, log, metrics }, { mailer, sms, http });

  let ownMetrics: MetricsServer | undefined;
  const stop = async () => {
    await stopInOrder({
      ...{ health, expiry, retention, gateway, engine, ingest, follower, store, outbox, http, letters, sms, mailer },
    });
    await ownMetrics?.stop();
    certificates.stop();
  };
  try {
    giveBackMemory();
    expiry.start();
    retention.start();
    engine.start();
    await follower.start();
    const [tracker] = await gateway.start();
    outbox.start();
    ownMetrics = await startOwnMetrics(config.metrics, () => metrics.text(), log);
    const { port } = await http.start();
    const devicePort = tracker?.port ?? config.device.port;
    const url = `${certificates.http === undefined ? "http" : "https"}://${reachedAt(config.http.host, port)}`;
    await updatePlaces(config.data, { url, trackers: reachedAt(config.device.host, devicePort) });
    return {
      url,
      ...(certificates.http === undefined && !isOfThisMachine(config.http.host) && { plainAt: config.http.host }),
      devicePort,
      ...(await introduction(config, store)),
      ...(await store.alone(() => firstLink(config, store, url))),
      credentialsFile: credentialsFile(config.data),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A clock that is doubted is told, but it is no reason to be not ready: another machine's clock is no better. */
function healthOf(
  store: OpenedStore,
  { ingest, follower }: { readonly ingest: Ingest; readonly follower: Follower },
  clock: Clock,
  log: Log,
): Health {
  const follow = async () => {
    if (follower.isFull) throw new Error(`${follower.lagBytes} bytes of positions wait to be followed`);
  };
  const checks = { store: () => store.check(), appends: () => ingest.check(), follow };
  const notes = { clock: () => (ingest.ownClock.standing === "right" ? "ok" : ingest.ownClock.standing) };
  return createHealth(checks, clock, log, { notes });
}

/** What sends SMS and e-mail, loaded only where it is configured: most services send none. */
async function createSenders(config: Config, deps: Pick<HttpDeps, "bus" | "clock" | "ids" | "log" | "metrics">) {
  const { mail } = config;
  const sms =
    config.sms.kind === "none" ? undefined : (await import("./notify/index.ts")).createSmsSender(config.sms, deps);
  const mailer = mail.host === "" ? undefined : (await import("./notify/mail.ts")).createMailer(mail, deps);
  return {
    ...{ sms, mailer },
    letters: createLetters({ ...deps, mailer }),
    asking: createRecipientAsking({ mailer, sms, url: config.recipients.url }),
  };
}

async function outboxOf(
  { caps, mail, webhooks, notices, telegram }: Config,
  parts: Pick<HttpDeps, "store" | "histories" | "bus" | "clock" | "ids" | "log" | "metrics">,
  { mailer, sms, http }: Pick<Parts, "mailer" | "sms" | "http">,
): Promise<Outbox> {
  return createOutbox({
    ...parts,
    capsOf: capsBy(caps, (await parts.store.accounts.page({ limit: 1 })).rows[0]?.key ?? 0),
    mailsAtOnce: mail.connections,
    pauseMinutes: notices.pauseMinutes,
    ways: {
      mailer,
      sms,
      webhooks: createWebhookSender({ allowPrivate: webhooks.allowPrivate === "on" }, parts),
      telegram: createTelegramSender({ url: telegram.url }, parts),
      commands: http.commandRunner,
      mapLink: notices.mapLink,
      smsParts: notices.smsParts,
    },
  });
}

function httpOptions(
  { http, api, answers, sessions, streams, links, trips }: Config,
  tls: HttpOptions["tls"],
): HttpOptions {
  return { ...http, tls, limits: { ...api, ...http, answers, sessions, streams, links, trips } };
}

function limitsOf(
  config: Config,
): Pick<HttpDeps, "checkWebhook" | "checkTemplate" | "codeLimits" | "caps" | "resends" | "requireEncryptedPasswords"> {
  const { caps, notices, passwords, recipients, webhooks } = config;
  return {
    checkTemplate: problemsOfBody,
    checkWebhook: createWebhookCheck({ allowPrivate: webhooks.allowPrivate === "on" }),
    caps,
    codeLimits: recipients,
    requireEncryptedPasswords: passwords.requireEncrypted,
    resends: { ofNotice: notices.mostResends, perMinute: notices.resendsPerMinute },
  };
}

/** The way in, what follows from it, the rules and the reading: each tells the others what they need to know. */
function createIngest(
  config: Config,
  parts: Pick<HttpDeps, "bus" | "clock" | "ids" | "log" | "metrics"> & { readonly store: OpenedStore },
) {
  const { store, metrics } = parts;
  const engine = new RuleEngine({
    ...parts,
    ...store,
    standings: (devices) => follower.standings(devices),
    graceMs: config.alerts.graceSeconds * 1000,
    noticesPerMinute: config.alerts.noticesPerMinute,
    onDue: (devices) => follower.due(devices),
  });
  const follower: Follower = new Follower({ ...parts, engine, mostLagBytes: config.follow.mostLagBytes });
  const ingest = new Ingest(
    { maxFutureMs: config.ingest.maxFutureSeconds * 1000 },
    { ...parts, following: follower, metrics: ingestMetrics(metrics), engine },
  );
  measureIngest(metrics, ingest);
  measureFollower(metrics, follower);
  measureStore(metrics, store);
  const kept = { clockTrust: ingest.ownClock, positionKeeper: follower.keeping };
  return { engine, ingest, follower, histories: new FoldedHistories({ ...store, heads: follower }), kept };
}

/** What the first start made. A start that found its port taken has told nobody, so the next one tells it. */
async function introduction(config: Config, store: Store): Promise<Pick<App, "created" | "operatorKey">> {
  if ((await store.accounts.findSetting("introduced")) !== undefined) return {};
  const { userName, apiKey, operatorKey: made } = (await readStored(config.data)) ?? {};
  const owner = userName !== undefined && apiKey !== undefined;
  // Another process may have made them, and is about to tell.
  if (owner || made !== undefined) await store.accounts.setting("introduced", () => "yes");
  return {
    ...(owner && { created: { userName, apiKey } }),
    ...(made !== undefined && { operatorKey: made }),
  };
}

/** The link that sets the owner's first password, while there is none. */
async function firstLink({ data }: Config, store: Store, url: string): Promise<Pick<App, "firstLink">> {
  const token = await firstToken({
    ...{ store, ids: systemIds, makeToken: makeSessionToken, hashToken: hashSessionToken },
    kept: async () => (await readStored(data))?.firstToken,
    keep: (made) => addCredentials(data, { firstToken: made, url }),
  });
  return token === undefined ? {} : { firstLink: `${url}/first#${token}` };
}

/** What accounts may have, and the first start's account and owner; undefined where they are there. */
async function firstAccount(config: Config, store: Store): ReturnType<typeof bootstrap> {
  await store.accounts.setUsualQuotas(config.quotas);
  const url = `http://${reachedAt(config.http.host, config.http.port)}`;
  return bootstrap(
    {
      store,
      clock: systemClock,
      ids: systemIds,
      makeApiKey,
      keep: (credentials) => addCredentials(config.data, { ...credentials, url }),
    },
    { name: "Default", timeZone: "Etc/UTC", licenses: config.licenses, ownerEmail: config.owner.email },
  );
}

/** The configured key, or the one that is stored, made where there is none. */
async function operatorKey(config: Config, store: Store): Promise<OperatorKey> {
  if (config.operator.key !== "") return { hash: hashApiKey(config.operator.key) };
  const url = `http://${reachedAt(config.http.host, config.http.port)}`;
  return bootstrapOperator({
    store,
    ids: systemIds,
    makeKey: makeOperatorKey,
    keep: (secret) => addCredentials(config.data, { operatorKey: secret, url }),
  });
}

interface Parts {
  readonly health: Health;
  readonly expiry: Expiry;
  readonly retention: Retention;
  readonly gateway: Gateway;
  readonly engine: RuleEngine;
  readonly ingest: Ingest;
  readonly follower: Follower;
  readonly store: OpenedStore;
  readonly outbox: Outbox;
  readonly http: HttpServer;
  readonly letters: PostOffice;
  readonly sms: SmsSender | undefined;
  readonly mailer: Mailer | undefined;
}

/** Trackers first, so that all they sent is acknowledged before others follow them; people and programs beside. */
async function stopInOrder(parts: Parts): Promise<void> {
  parts.health.stopping();
  const sent = parts.outbox.stop();
  await Promise.all([parts.expiry.stop(), parts.retention.stop()]);
  await parts.gateway.stop();
  await parts.engine.stop();
  await parts.ingest.stop();
  await parts.follower.stop();
  await parts.store.processes.stop();
  await sent;
  await parts.http.stop();
  await parts.letters.stop();
  await parts.sms?.close();
  await parts.mailer?.close();
}
