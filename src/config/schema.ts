import Type, { type Static } from "typebox";
import { isAddressList, isOriginList } from "./addresses.ts";
import { answers } from "./answers.ts";
import { caps } from "./caps.ts";
import { commands } from "./commands.ts";
import { type About, integer, optionalText, port, text, toggle } from "./kinds.ts";
import { links } from "./links.ts";
import { mail } from "./mail.ts";
import { httpMap } from "./map.ts";
import { metrics } from "./metrics.ts";
import { notices } from "./notices.ts";
import { devicePorts } from "./ports.ts";
import { quotas } from "./quotas.ts";
import { recipients } from "./recipients.ts";
import { refused } from "./refused.ts";
import { secret } from "./secret.ts";
import { sessions } from "./sessions.ts";
import { apiShares, deviceShares, httpShares } from "./shares.ts";
import { sms } from "./sms.ts";
import { store } from "./store.ts";
import { streams } from "./streams.ts";
import { deviceTls, httpTls } from "./tls.ts";
import { trips } from "./trips.ts";

const http = Type.Object({
  ...httpShares,
  ...httpMap,
  tls: httpTls,
  host: text("0.0.0.0", {
    env: "WAYBEAM_HTTP_HOST",
    description:
      "Address that the REST API listens on. 0.0.0.0: every IPv4 address of the machine; :: IPv6 as well, where the machine has it.",
  }),
  port: integer(8080, {
    ...port,
    env: "WAYBEAM_HTTP_PORT",
    description: "TCP port of the REST API; 0 takes any free one.",
  }),
  bodyLimit: integer(1_048_576, {
    env: "WAYBEAM_HTTP_BODY_LIMIT",
    minimum: 1024,
    maximum: 67_108_864,
    unit: "bytes",
    description: "Largest body of a request: far above any sensible one, far below what would fill the memory.",
  }),
  timeoutSeconds: integer(30, {
    env: "WAYBEAM_HTTP_TIMEOUT_SECONDS",
    minimum: 1,
    maximum: 3600,
    unit: "s",
    description: "Time after which an unfinished request is answered with 408.",
  }),
  trustProxy: Type.Refine(
    optionalText({
      env: "WAYBEAM_HTTP_TRUST_PROXY",
      example: "IP addresses and networks like 10.0.0.0/8, or loopback, linklocal, uniquelocal, with commas between",
      description:
        "Addresses of the proxies whose X-Forwarded-For is believed, so that limits by address count their clients. Unset: nobody's; anybody could write it.",
    }),
    isAddressList,
  ),
});

const api = Type.Object({
  ...apiShares,
  tokenSeconds: integer(86_400, {
    env: "WAYBEAM_API_TOKEN_SECONDS",
    minimum: 60,
    maximum: 2_592_000,
    unit: "s",
    description: "Lifetime of an access token.",
  }),
  requestsPerMinute: integer(3000, {
    env: "WAYBEAM_API_REQUESTS_PER_MINUTE",
    minimum: 1,
    maximum: 1_000_000_000,
    unit: "requests",
    description: "Requests that each user may make in a minute, so that one client can't starve the others.",
  }),
  tokenRequestsPerMinute: integer(30, {
    env: "WAYBEAM_API_TOKEN_REQUESTS_PER_MINUTE",
    minimum: 1,
    maximum: 1_000_000_000,
    unit: "requests",
    description:
      "Token requests in a minute from each address, and for each user name; for a name those with a wrong key are counted apart, so that nobody else can use up its own.",
  }),
  dailyResults: integer(200_000, {
    env: "WAYBEAM_API_DAILY_RESULTS",
    minimum: 1,
    maximum: 1_000_000_000_000,
    unit: "records",
    description: "Locations that can be read from each device in a UTC day.",
  }),
  commandWaitSeconds: integer(10, {
    env: "WAYBEAM_API_COMMAND_WAIT_SECONDS",
    minimum: 1,
    maximum: 20,
    unit: "s",
    description: "Time that the answer to a command waits for the device's reply.",
  }),
});

const device = Type.Object({
  tls: deviceTls,
  corsOrigins: Type.Refine(
    optionalText({
      env: "WAYBEAM_DEVICE_CORS_ORIGINS",
      example: "origins like https://app.example with commas between, in small letters and without a path, or *",
      description:
        "Origins of web pages that may report over HTTP from a browser: it lets other pages send no JSON, and shows them no answer. `*`: every page. Unset: none, as trackers and apps are no pages.",
    }),
    isOriginList,
  ),
  ...deviceShares,
  host: text("0.0.0.0", {
    env: "WAYBEAM_DEVICE_HOST",
    description:
      "Address that trackers connect to. 0.0.0.0: every IPv4 address of the machine; :: IPv6 as well, where the machine has it.",
  }),
  port: integer(8888, {
    ...port,
    env: "WAYBEAM_DEVICE_PORT",
    description: "Port for trackers of every protocol, TCP, UDP and HTTP; 0 takes any free one.",
  }),
  ports: devicePorts,
  connections: integer(18_000, {
    env: "WAYBEAM_DEVICE_CONNECTIONS",
    minimum: 1,
    maximum: 1_000_000,
    unit: "connections",
    description:
      "Connections of trackers at a time. Beyond them the one that did not say for longest which device it is makes room; where all have, a further one is closed at once. Bounds memory and file descriptors.",
  }),
  connectionsPerAddress: integer(18_000, {
    env: "WAYBEAM_DEVICE_CONNECTIONS_PER_ADDRESS",
    minimum: 1,
    maximum: 1_000_000,
    unit: "connections",
    description:
      "Connections from one address at a time. High, since mobile networks put many thousands of trackers behind one address.",
  }),
  halfOpen: integer(16_000, {
    env: "WAYBEAM_DEVICE_HALF_OPEN",
    minimum: 1,
    maximum: 1_000_000,
    unit: "connections",
    description:
      "Connections at a time that did not say yet which device they are; beyond them one of these makes room. High: after an outage a fleet comes back at once.",
  }),
  halfOpenPerAddress: integer(1000, {
    env: "WAYBEAM_DEVICE_HALF_OPEN_PER_ADDRESS",
    minimum: 1,
    maximum: 1_000_000,
    unit: "connections",
    description:
      "One address's share of `device.halfOpen`. While places are free it may have more, since whole fleets come back behind one address; when all are taken, the address with most beyond its share makes room, its oldest first, else the oldest of all. So connections from one address never keep others out.",
  }),
  messagesPerSecond: integer(2000, {
    env: "WAYBEAM_DEVICE_MESSAGES_PER_SECOND",
    minimum: 1,
    maximum: 1_000_000,
    unit: "messages",
    description: "Messages that a connection may send in a second, on average; faster ones are read more slowly.",
  }),
  idleSeconds: integer(1800, {
    env: "WAYBEAM_DEVICE_IDLE_SECONDS",
    minimum: 1,
    maximum: 86_400,
    unit: "s",
    description: "Silence after which a tracker's connection is closed: longer than the usual heartbeat intervals.",
  }),
  knocksPerMinute: integer(1200, {
    env: "WAYBEAM_DEVICE_KNOCKS_PER_MINUTE",
    minimum: 1,
    maximum: 1_000_000,
    unit: "attempts",
    description:
      "Attempts a minute, from one address (IPv6: one /64), to report as a device that is not registered, has expired or may not come from there. Each asks the database; beyond them a connection is closed and a datagram dropped without asking. High: a fleet that is not registered yet may stand behind one address of a mobile network.",
  }),
  identifySeconds: integer(60, {
    env: "WAYBEAM_DEVICE_IDENTIFY_SECONDS",
    minimum: 1,
    maximum: 3600,
    unit: "s",
    description: "Time a new connection has to say which device it is, so that half-open ones do not pile up.",
  }),
});

const ingest = Type.Object({
  maxFutureSeconds: integer(600, {
    env: "WAYBEAM_INGEST_MAX_FUTURE_SECONDS",
    minimum: 0,
    maximum: 86_400,
    unit: "s",
    description: "How far a tracker's clock may be ahead; reports from further in the future are refused.",
  }),
});

const follow = Type.Object({
  mostLagBytes: integer(268_435_456, {
    env: "WAYBEAM_FOLLOW_MOST_LAG_BYTES",
    minimum: 16_384,
    maximum: 1_099_511_627_776,
    unit: "bytes",
    description:
      "Positions that are stored and not followed yet, so that totals and alerts lag behind. While there are more, nothing is read from trackers, which keep their data.",
  }),
});

/**
 * Every setting, once: key, type and bounds, default, meaning, unit, environment variable. The file has this nested
 * form; a variable is named after the key. The documentation page, `waybeam config` and the `Config` type come from
 * here.
 */
export const configSchema = Type.Object({
  data: text("./data", {
    env: "WAYBEAM_DATA",
    description: "Folder of everything that is kept. One process at a time uses it.",
  }),
  http,
  device,
  api,
  answers,
  streams,
  links,
  quotas,
  ingest,
  follow,
  owner: Type.Object({
    email: text("owner@waybeam.local", {
      env: "WAYBEAM_OWNER_EMAIL",
      pattern: "^[^\\s@]+@[^\\s@]+$",
      example: "an e-mail address",
      description: "E-mail address, so the user name, of the first account's owner. Used by the first start only.",
    }),
  }),
  operator: Type.Object({
    key: Type.String({
      default: "",
      maxLength: 256,
      pattern: "^([!-~]{32,})?$",
      example: "32 to 256 characters without blanks, or nothing",
      secret: true,
      env: "WAYBEAM_OPERATOR_KEY",
      description:
        "Key of the service's operator, who makes accounts. Unset: the one that the first start made; set, this one alone counts.",
    } satisfies About & { pattern: string; example: string }),
  }),
  licenses: integer(10_000, {
    env: "WAYBEAM_LICENSES",
    minimum: 0,
    maximum: 1_000_000_000,
    unit: "devices",
    description: "Licences of the first account: devices that have not expired. Used by the first start only.",
  }),
  store,
  refused,
  caps,
  commands,
  alerts: Type.Object({
    graceSeconds: integer(60, {
      env: "WAYBEAM_ALERTS_GRACE_SECONDS",
      minimum: 0,
      maximum: 3600,
      unit: "s",
      description:
        "Time after the start in which time alone raises no alert (offline, not moving ...). If the service was down, trackers need this time to come back.",
    }),
    noticesPerMinute: integer(6000, {
      env: "WAYBEAM_ALERTS_NOTICES_PER_MINUTE",
      minimum: 1,
      maximum: 1_000_000_000,
      unit: "notices",
      description:
        "Notices that the rules of one account may make in a minute, a minute's number at once: one report can make hundreds, each a row and a call. Critical alerts may make as many again, on credit. The alert whose notices are left out says so. A fleet that falls silent in one moment makes one for each vehicle and recipient: give a fleet of many thousands more.",
    }),
    closeAfterDays: integer(7, {
      env: "WAYBEAM_ALERTS_CLOSE_AFTER_DAYS",
      minimum: 1,
      maximum: 36_500,
      unit: "days",
      description:
        "Alerts that are not critical close by themselves after this time, counted from when they were found. Critical alerts wait until somebody sees to them.",
    }),
    keepDays: integer(365, {
      env: "WAYBEAM_ALERTS_KEEP_DAYS",
      minimum: 1,
      maximum: 36_500,
      unit: "days",
      description: "Time after which an alert is deleted, counted from when it was found.",
    }),
  }),
  trips,
  notices,
  mail,
  recipients,
  webhooks: Type.Object({
    allowPrivate: toggle({
      env: "WAYBEAM_WEBHOOKS_ALLOW_PRIVATE",
      description:
        "Let rules call webhooks at private and loopback addresses: any user who may change rules can reach the machines of the service's own network then. Metadata services of clouds stay refused, redirects are never followed.",
    }),
  }),
  telegram: Type.Object({
    url: text("https://api.telegram.org", {
      env: "WAYBEAM_TELEGRAM_URL",
      pattern: "^https?://[^\\s/?#]+(/[^\\s?#]*[^\\s?#/])?$",
      example: "an http or https address without a slash at its end",
      description: "The Bot API that takes the messages of rules: Telegram's, or a Bot API server of your own.",
    }),
  }),
  sms,
  passwords: Type.Object({
    requireEncrypted: Type.Boolean({
      env: "WAYBEAM_PASSWORDS_REQUIRE_ENCRYPTED",
      default: false,
      description:
        "Whether a user's password is taken only as a compact JWE for the key at /.well-known/jwks.json. Otherwise plain ones are taken, too.",
    } satisfies About),
  }),
  sessions,
  metrics,
  secret,
  log: Type.Object({
    level: Type.Union(
      [
        Type.Literal("debug"),
        Type.Literal("info"),
        Type.Literal("warn"),
        Type.Literal("error"),
        Type.Literal("silent"),
      ],
      {
        env: "WAYBEAM_LOG_LEVEL",
        default: "info",
        description: "What is logged, as JSON lines on standard output.",
      } satisfies About,
    ),
  }),
});

/** Variables that the command line reads itself. */
export const otherVariables = [
  {
    env: "WAYBEAM_CONFIG",
    description:
      "Configuration file; without it (and --config) waybeam.json in the working folder is read if it is there.",
  },
  { env: "WAYBEAM_URL", description: "Address of the REST API for the commands that are its clients." },
  { env: "WAYBEAM_USER", description: "User name for these commands." },
  { env: "WAYBEAM_API_KEY", description: "API key for these commands." },
] as const;

/** All settings in force, nested as in the file; frozen. */
export type Config = DeepReadonly<Static<typeof configSchema>>;

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };
