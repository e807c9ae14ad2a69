import type { Effect } from "../../model/effects.ts";
import { appIdPattern } from "../../wire/app-report.ts";
import {
  type HttpRequest,
  hasContentType,
  httpFramer,
  httpResponse,
  type Parameters,
  parseHttpRequest,
  parseParameters,
  startsHttp,
} from "../../wire/http.ts";
import { secret, secretOf } from "../../wire/http-secret.ts";
import { parseJson } from "../../wire/json.ts";
import { type DecodeContext, type Decoded, defineProtocol, type MessageRow } from "../../wire/protocol.ts";
import { type JsonReport, readJson } from "./json.ts";
import { readOverland } from "./overland.ts";
import { deviceOf, readParameters } from "./parameters.ts";
import { simulate } from "./simulate.ts";

/** Each request names its device and is answered by itself: nothing is remembered of a connection. */
type Session = Readonly<Record<string, never>>;
const session: Session = Object.freeze({});

const accepted = { true: httpResponse(200, true), false: httpResponse(200, false) };
/** Overland sends a batch again unless this is the answer. */
const ok = (keepAlive: boolean) =>
  httpResponse(200, keepAlive, '{"result":"ok"}', { "Content-Type": "application/json" });
const acceptedBatch = { true: ok(true), false: ok(false) };
const refused = { true: httpResponse(400, true), false: httpResponse(400, false) };

/**
 * The methods that report. A preflight of a browser or a look of a scanner (HEAD, OPTIONS ...) is no report, whatever
 * its query says.
 */
const reporting: ReadonlySet<string> = new Set(["GET", "POST"]);
const allow = { Allow: "GET, POST" };
const otherMethod = { true: httpResponse(405, true, "", allow), false: httpResponse(405, false, "", allow) };

/** What a request says, and the password or key that it carries. */
interface RequestReport extends JsonReport {
  readonly secret: string | undefined;
}

/** Where a request has its report. */
type Kind = "query" | "form" | "json" | "Overland";

function kindOf(request: HttpRequest): Kind {
  const { body, query } = request;
  const first = body.find((byte) => byte > 0x20);
  if (body.length > 0 && (first === 0x7b || hasContentType(request, "application/json")))
    return Array.isArray(parseJson(body)?.locations) ? "Overland" : "json";
  const form = query.size === 0 || hasContentType(request, "application/x-www-form-urlencoded");
  return body.length > 0 && form ? "form" : "query";
}

/** A row for one kind of request. `read` gives undefined where it is malformed. */
function row(
  kind: Kind,
  read: (request: HttpRequest, receivedAt: number) => RequestReport | undefined,
  answers: typeof accepted = accepted,
): MessageRow<Session> {
  return {
    name: kind,
    keys: [kind],
    handle(frame, _, { receivedAt }: DecodeContext): Decoded<Session> {
      const request = parseHttpRequest(frame);
      if ("refused" in request) return refusal("malformed", false);
      const report = read(request, receivedAt);
      if (report === undefined) return refusal("malformed", request.keepAlive);
      if (report.device === undefined || !appIdPattern.test(report.device))
        return refusal("notIdentified", request.keepAlive);
      return {
        session,
        effects: [
          identify(report.device, report.secret),
          ...report.effects,
          { type: "reply", bytes: answers[`${request.keepAlive}`], when: "stored" },
        ],
      };
    },
  };
}

function identify(device: string, secret: string | undefined): Effect {
  return secret === undefined ? { type: "identify", ids: [device] } : { type: "identify", ids: [device], secret };
}

function refusal(cause: "malformed" | "notIdentified", keepAlive: boolean): Decoded<Session> {
  const effects: readonly Effect[] = [
    { type: "failure", cause },
    { type: "reply", bytes: refused[`${keepAlive}`], when: "now" },
  ];
  return { session, effects };
}

function refuseMethod(frame: Uint8Array): Decoded<Session> {
  const request = parseHttpRequest(frame);
  const keepAlive = !("refused" in request) && request.keepAlive;
  const effects: readonly Effect[] = [
    { type: "failure", cause: "unsupported" },
    { type: "reply", bytes: otherMethod[`${keepAlive}`], when: "now" },
  ];
  return { session, effects };
}

/** Parameters of a query or form as a report. */
function reportOf(parameters: Parameters, request: HttpRequest, receivedAt: number): RequestReport | undefined {
  const effect = readParameters(parameters, receivedAt);
  return effect && { device: deviceOf(parameters), effects: [effect], secret: secretOf(parameters, request) };
}

/** What a JSON body says, with what its URL and head say of the device. */
function ofBody(request: HttpRequest, report: JsonReport | undefined): RequestReport | undefined {
  const { query } = request;
  return report && { ...report, device: report.device ?? deviceOf(query), secret: secretOf(query, request) };
}

/**
 * The HTTP form in which phone apps report: OsmAnd, Traccar Client, Overland and others, by query string, form or JSON.
 * A request is answered with 200 once it is stored, with 400 where it is malformed or names no device, with 405 where
 * it is neither GET nor POST.
 */
export const osmand = defineProtocol<Session>({
  id: "osmand",
  title: "OsmAnd (phone apps over HTTP)",
  transports: ["http"],
  defaultPort: 5055,
  manuals: [{ title: "OsmAnd protocol: JSON format, query / form format" }, { title: "Overland GPS Tracker: API" }],
  // Any request may be one of its own. What another protocol of HTTP is sure of is not.
  detect: (bytes, transport) => (transport === "http" && startsHttp(bytes) !== "no" ? "maybe" : "no"),
  framer: httpFramer,
  secret,
  speedUnit: "kn",
  session,
  classify(frame) {
    const request = parseHttpRequest(frame);
    if ("refused" in request) return "refused";
    return reporting.has(request.method) ? kindOf(request) : "other method";
  },
  messages: [
    row("query", (request, receivedAt) => reportOf(request.query, request, receivedAt)),
    // Some apps keep the identifier in the URL and the rest in the form.
    row("form", (request, receivedAt) => {
      const { body, query } = request;
      const form = parseParameters(new TextDecoder().decode(body).trim());
      return form && reportOf(new Map([...query, ...form]), request, receivedAt);
    }),
    // The identifier may stand in the URL that was set up in the app.
    row("json", (request, receivedAt) => {
      const root = parseJson(request.body);
      return ofBody(request, root && readJson(root, receivedAt));
    }),
    row(
      "Overland",
      (request, receivedAt) => {
        const root = parseJson(request.body);
        return ofBody(request, root && readOverland(root, receivedAt));
      },
      acceptedBatch,
    ),
    { name: "other method", keys: ["other method"], handle: refuseMethod },
    { name: "refused", keys: ["refused"], handle: () => refusal("malformed", false) },
  ],
  simulate,
});
