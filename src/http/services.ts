import { makeApiKey } from "../auth/api-key.ts";
import { createPasswords, type Passwords } from "../auth/passwords.ts";
import { type CheckPresent, createPresent } from "../auth/present.ts";
import { createSecondFactors, type SecondFactors } from "../auth/second-factor.ts";
import { hashSessionToken, makeSessionToken } from "../auth/session-token.ts";
import { makeShareToken, sharedName } from "../auth/share-token.ts";
import { createSignInCheck, type SignInCheck } from "../auth/sign-in.ts";
import { createTokens, type Tokens } from "../auth/tokens.ts";
import { hashTrackerSecret } from "../auth/tracker-secret.ts";
import { leastPassword } from "../contract/session.ts";
import { type AccountAlerts, createAccountAlerts } from "../domain/account-alerts.ts";
import { createRuleReferences } from "../domain/alert-rule-references.ts";
import { createWatchWarnings } from "../domain/alert-rule-rights.ts";
import { type AlertRules, createAlertRules } from "../domain/alert-rules.ts";
import { type Cache, createCache, dropWhereMissed } from "../domain/cache.ts";
import { type Commands, createCommands } from "../domain/commands.ts";
import { createDevices, type Devices } from "../domain/devices.ts";
import { createExports, type Exports } from "../domain/exports/index.ts";
import { createGeofences, type Geofences } from "../domain/geofences.ts";
import { createGroups, type Groups } from "../domain/groups.ts";
import { createHistory, type History } from "../domain/history.ts";
import { ListCursors } from "../domain/list-cursors.ts";
import { Live } from "../domain/live/live.ts";
import { createMutes, type Mutes } from "../domain/mutes.ts";
import { createNotices, type Notices, type ResendLimits } from "../domain/notices.ts";
import { createPeople, type People } from "../domain/people.ts";
import { createRecipients, type Recipients } from "../domain/recipients.ts";
import { RuleHealth } from "../domain/rule-health.ts";
import { createAskRecipients } from "../domain/rule-recipients.ts";
import { createSharedPlaces, type SharedPlaces } from "../domain/shared-places.ts";
import { createShares, type Shares } from "../domain/shares.ts";
import { createShownFrom, type ShownFrom } from "../domain/shown-from.ts";
import { createSignIns, type SignIns } from "../domain/sign-ins.ts";
import { createTenants, type Tenants } from "../domain/tenants.ts";
import { createTrials, type Trials } from "../domain/trials.ts";
import { createTrips, mostOfAnswer, type Trips } from "../domain/trips/index.ts";
import { createUsage, type Usage } from "../domain/usage.ts";
import { createUsers, type Users } from "../domain/users.ts";
import { createVisibility, type Visibility } from "../domain/visibility.ts";
import type { User } from "../model/account.ts";
import { type Caps, type CapsOf, capsBy } from "../model/caps.ts";
import type { AlertRuleCheck, AlertRuleNeeds, TemplateCheck, WebhookCheck } from "../ports/alert-rule-check.ts";
import type { AlertTrial } from "../ports/alert-trial.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock, ClockTrust } from "../ports/clock.ts";
import type { Dispatcher } from "../ports/dispatcher.ts";
import type { Histories } from "../ports/history.ts";
import type { Ids } from "../ports/ids.ts";
import type { LastLocations } from "../ports/last-location.ts";
import type { Letters } from "../ports/letters.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { Presence } from "../ports/presence.ts";
import type { Quarantine } from "../ports/quarantine.ts";
import type { CodeLimits, RecipientAsking } from "../ports/recipients.ts";
import type { PositionKeeper } from "../ports/retention.ts";
import type { SmsSender } from "../ports/sms.ts";
import type { Store } from "../ports/store.ts";
import type { Trace } from "../ports/trace.ts";
import { Answers } from "./answers.ts";
import { inLargeTurn, type LargeTurns, largeTurns } from "./large-turns.ts";
import type { HttpLimits } from "./limits.ts";
import { type ListTurns, listTurns } from "./list-turns.ts";
import { createRecognition, type Recognise } from "./recognition.ts";
import { Streams } from "./streams.ts";

/** What /metrics answers, and to whom. */
export interface ShownMetrics {
  /** In Prometheus's format. */
  readonly text: () => Promise<string>;
  /** SHA-256 of the token that is asked for, hex; undefined: none is. */
  readonly tokenHash: string | undefined;
}

/** What the HTTP side needs of the rest of the service. */
export interface HttpDeps {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly lastLocations: LastLocations;
  readonly histories: Histories;
  readonly positionKeeper: Pick<PositionKeeper, "keptFrom" | "oldPositions">;
  readonly quarantine: Quarantine;
  /** Whether our clock may end what has run out; unless given, it is right. */
  readonly clockTrust?: ClockTrust | undefined;
  readonly trace: Trace;
  /** SHA-256 of the operator's key, hex. */
  readonly operatorKeyHash: string;
  /** The way of commands to connected devices. */
  readonly dispatcher: Dispatcher;
  /** Where devices were last seen. */
  readonly presence: Presence;
  /** The SMS gateway; absent where none is configured. */
  readonly sms?: SmsSender | undefined;
  /** Tells users what happened to their way in. */
  readonly letters: Letters;
  /** Asks people outside of accounts whether they want notices, and how often. */
  readonly asking: RecipientAsking;
  readonly codeLimits: CodeLimits;
  /** What is wrong with a rule, and what it would have found. */
  readonly checkAlertRule: AlertRuleCheck;
  readonly alertRuleNeeds: AlertRuleNeeds;
  readonly checkWebhook: WebhookCheck;
  readonly checkTemplate: TemplateCheck;
  readonly alertTrial: AlertTrial;
  /** What accounts may send and hold unless the operator said otherwise. */
  readonly caps: Omit<Caps, "unconfirmedRecipients"> & { readonly identifiersPerLicense: number };
  /** How often notices may be sent again by hand. */
  readonly resends: ResendLimits;
  /** Whether a password that is not encrypted is refused. */
  readonly requireEncryptedPasswords: boolean;
  /** Whether the service can do its work now: /health/ready. */
  readonly readiness: () => Promise<{ readonly ready: boolean; readonly checks: Readonly<Record<string, string>> }>;
  /** Metrics on the port of the API; undefined: none here. */
  readonly shownMetrics?: ShownMetrics | undefined;
}

/** The parts that the routes call. */
export interface Services extends HttpDeps {
  readonly limits: HttpLimits;
  readonly answers: Answers;
  readonly cursors: ListCursors;
  readonly listTurns: ListTurns;
  readonly largeTurns: LargeTurns;
  readonly tokens: Tokens;
  /** Who makes a request; asked again, whether that still holds. */
  readonly recognise: Recognise;
  readonly signIns: SignIns;
  readonly signInCheck: SignInCheck;
  readonly secondFactors: SecondFactors;
  readonly people: People;
  /** Of the cookies that mark browsers from which somebody has signed in. */
  readonly browserKey: string;
  /** Users by key, as the gate asks for them. */
  readonly users: Cache<number, User>;
  readonly accountUsers: Users;
  readonly groups: Groups;
  readonly passwords: Passwords;
  readonly usage: Usage;
  readonly devices: Devices;
  readonly commands: Commands;
  readonly history: History;
  readonly exports: Exports;
  readonly shares: Shares;
  readonly sharedPlaces: SharedPlaces;
  readonly geofences: Geofences;
  readonly alertRules: AlertRules;
  readonly accountAlerts: AccountAlerts;
  readonly mutes: Mutes;
  readonly notices: Notices;
  readonly recipients: Recipients;
  readonly trials: Trials;
  readonly trips: Trips;
  readonly ruleHealth: RuleHealth;
  readonly tenants: Tenants;
  readonly live: Live;
  readonly streams: Streams;
  readonly capsOf: CapsOf;
  /** Key of the account that runs the service: the first one. */
  readonly serviceAccount: number;
}

/** Users kept in memory: some 1 KB each. */
const keptUsers = 20_000;
/** Bytes of all of them, should they have long texts. */
const keptUserBytes = 33_554_432;
/**
 * Age at which a kept user is read again, should the event of its change be lost: how long a privilege taken away can
 * last then.
 */
const userMaxAgeMs = 10_000;

/** Builds them. Keys are made on the first start and kept in the store. */
export async function createServices(limits: HttpLimits, deps: HttpDeps): Promise<Services> {
  const { store, bus, clock, ids, log } = deps;
  const cursors = new ListCursors(await store.accounts.setting("cursorKey", () => ids.secret(32)));
  const users = usersInMemory(deps);
  const usage = createUsage(store.users, bus, log);
  const visibility = createVisibility({ groups: store.groups, bus, clock });
  const watchWarnings = createWatchWarnings(store, visibility);
  const serviceAccount = (await store.accounts.page({ limit: 1 })).rows[0]?.key ?? 0;
  const capsOf = capsBy(deps.caps, serviceAccount);
  const devices = createDevices({
    ...deps,
    ...deps.caps,
    visibility,
    watchWarnings,
    hashSecret: (secret) => hashTrackerSecret(secret, ids),
    capsOf,
    serviceAccount,
  });
  const groups = createGroups({ ...deps, visibility, watchWarnings });
  const passwords = passwordsOf(deps);
  const wayIn = await wayInParts(limits, deps, { users, usage, passwords, serviceAccount });
  const turns = largeTurns(clock);
  const shownFrom = createShownFrom(deps);
  const history = createHistory({
    histories: deps.histories,
    alerts: store.alerts,
    results: usage.results,
    cursors,
    clock,
    shownFrom,
    dailyResults: limits.dailyResults,
  });
  return {
    ...deps,
    limits,
    answers: new Answers(limits.answers),
    cursors,
    listTurns: listTurns(clock),
    largeTurns: turns,
    ...wayIn,
    users,
    usage,
    accountUsers: createUsers({
      ...deps,
      makeApiKey,
      ...wayIn,
      hashPassword: passwords.hash,
      forget: (userKey) => usage.requests.forget(userKey),
    }),
    groups,
    passwords,
    devices,
    commands: createCommands({ ...deps, capsOf, devices, sms: deps.sms, waitMs: limits.commandWaitSeconds * 1000 }),
    ...liveParts(limits, { ...deps, visibility, groups }),
    tenants: createTenants({ ...deps, capsOf, makeApiKey }),
    history,
    exports: createExports(history, limits.trips.gapSeconds, inLargeTurn(turns)),
    shares: createShares({ ...deps, devices, groups, limits: limits.links, makeToken: makeShareToken }),
    sharedPlaces: createSharedPlaces({ ...deps, visibility, groups, sharedName }),
    trips: tripsOf(limits, deps, shownFrom, turns),
    ...(await alertParts(limits, deps, { visibility, devices, groups, usage, shownFrom, capsOf, largeTurns: turns })),
    capsOf,
    serviceAccount,
  };
}

function tripsOf({ trips: settings }: HttpLimits, { histories }: HttpDeps, shownFrom: ShownFrom, turns: LargeTurns) {
  return createTrips({ histories, shownFrom, settings, inTurn: inLargeTurn(turns), most: mostOfAnswer });
}

function liveParts(
  limits: HttpLimits,
  deps: HttpDeps & Pick<Services, "groups"> & { readonly visibility: Visibility },
) {
  const live = new Live(deps);
  return { live, streams: new Streams({ ...deps, live }, limits.streams) };
}

/** What tells who asks: tokens of programs, sessions of people. */
async function wayInParts(
  limits: HttpLimits,
  deps: HttpDeps,
  { users, usage, passwords, serviceAccount }: Pick<Services, "users" | "usage" | "passwords" | "serviceAccount">,
) {
  const { store, clock, ids } = deps;
  const tokenKey = await store.accounts.setting("tokenKey", () => ids.secret(64));
  const tokens = createTokens(tokenKey, limits.tokenSeconds, clock);
  const hashing = { makeToken: makeSessionToken, hashToken: hashSessionToken };
  const signIns = createSignIns({ ...deps, ...hashing, limits: limits.sessions });
  const secondFactors = createSecondFactors(deps);
  const checkPresent: CheckPresent = createPresent({ ...deps, matchesPassword: passwords.matches });
  const below = { ...deps, ...hashing, signIns, secondFactors, checkPresent, serviceAccount };
  return {
    tokens,
    signIns,
    secondFactors,
    checkPresent,
    people: createPeople({ ...below, hashPassword: passwords.hash, leastPassword }),
    recognise: createRecognition({ tokens, signIns, users, usage, clock }),
    signInCheck: createSignInCheck(store, passwords, secondFactors),
    browserKey: await store.accounts.setting("browserKey", () => ids.secret(32)),
  };
}

/** The parts that those of alerts need. */
type BelowAlerts = Pick<Services, "devices" | "groups" | "usage" | "capsOf" | "largeTurns"> & {
  readonly visibility: Visibility;
  readonly shownFrom: ShownFrom;
};

/** The parts of zones, rules, alerts and notices. */
async function alertParts(limits: HttpLimits, deps: HttpDeps, below: BelowAlerts) {
  const { visibility, devices, groups, usage, shownFrom, capsOf } = below;
  const references = createRuleReferences({ ...deps, visibility });
  const { recipients, askRecipients } = await recipientParts(deps, capsOf);
  const alertRules = createAlertRules({ ...deps, visibility, devices, references, askRecipients });
  return {
    geofences: createGeofences({ ...deps, visibility, inTurn: inLargeTurn(below.largeTurns) }),
    alertRules,
    accountAlerts: createAccountAlerts({ ...deps, devices, groups, visibility }),
    ruleHealth: new RuleHealth({ ...deps, references }),
    recipients,
    ...noticeParts({ ...deps, devices, visibility, rules: alertRules }),
    trials: createTrials({
      ...deps,
      devices,
      rules: alertRules,
      references,
      results: usage.results,
      shownFrom,
      dailyResults: limits.dailyResults,
    }),
  };
}

/**
 * People outside of accounts, and how saved rules ask them. The key of their codes is made on the first start and kept
 * in the store.
 */
async function recipientParts(deps: HttpDeps, capsOf: CapsOf) {
  const { store, ids, codeLimits } = deps;
  const codeKey = await store.accounts.setting("recipientKey", () => ids.secret(32));
  const recipients = createRecipients({ ...deps, limits: codeLimits, capsOf, codeKey });
  return { recipients, askRecipients: createAskRecipients({ ...deps, recipients, capsOf }) };
}

/** Notices and mutes. */
function noticeParts(context: Parameters<typeof createMutes>[0] & Parameters<typeof createNotices>[0]) {
  return { notices: createNotices(context), mutes: createMutes(context) };
}

function passwordsOf({ store, ids, requireEncryptedPasswords: requireEncrypted }: HttpDeps): Passwords {
  return createPasswords({ accounts: store.accounts, ids, requireEncrypted });
}

/** Users by key, until the bus says that one changed. */
function usersInMemory({ store, bus, clock }: HttpDeps): Cache<number, User> {
  const users = createCache<number, User>({
    clock,
    load: (key) => store.users.findByKey(key),
    maxAgeMs: userMaxAgeMs,
    capacity: keptUsers,
    mostBytes: keptUserBytes,
  });
  dropWhereMissed(bus, users);
  bus.subscribe((event) => {
    if (event.type === "userChanged") users.drop(event.key);
  });
  return users;
}
