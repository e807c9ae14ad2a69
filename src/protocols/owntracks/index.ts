import type { Effect } from "../../model/effects.ts";
import { type HttpRequest, hasContentType, httpFramer, httpResponse, parseHttpRequest } from "../../wire/http.ts";
import { secret, secretOf } from "../../wire/http-secret.ts";
import { type JsonObject, parseJson } from "../../wire/json.ts";
import { type Certainty, type Decoded, defineProtocol, type MessageRow, type Transport } from "../../wire/protocol.ts";
import { identifiersOf } from "./identifiers.ts";
import { readBeacon, readLocation, readStatus, readSteps } from "./report.ts";
import { simulate } from "./simulate.ts";

/** Each request names its device and is answered by itself: nothing is remembered of a connection. */
type Session = Readonly<Record<string, never>>;
const session: Session = Object.freeze({});

/**
 * What the server has for the app: nothing. The app says that it sends JSON and reads JSON, and tells its user of an
 * answer that is none; to senders that do not say so the status is all. (Booklet, HTTP)
 */
const noMessages = (keepAlive: boolean) => httpResponse(200, keepAlive, "[]", { "Content-Type": "application/json" });
const acceptedOfApp = { true: noMessages(true), false: noMessages(false) };
const accepted = { true: httpResponse(200, true), false: httpResponse(200, false) };
const refused = { true: httpResponse(400, true), false: httpResponse(400, false) };

/** The payload of a message that deletes a friend: none. */
const empty = "empty";
/** Headers in which both apps name user and device; other senders have no reason for them. */
const ownHeaders = ["x-limit-u", "x-limit-d"];

/** The `_type` of a request; `empty` where an app of OwnTracks sends no payload. Undefined: it is none of OwnTracks. */
function typeOf({ method, headers, body }: HttpRequest): string | undefined {
  if (method !== "POST") return undefined;
  if (body.length === 0) return ownHeaders.some((name) => headers.has(name)) ? empty : undefined;
  const type = parseJson(body)?._type;
  return typeof type === "string" ? type : undefined;
}

function detect(bytes: Uint8Array, transport: Transport): Certainty {
  if (transport !== "http") return "no";
  const request = parseHttpRequest(bytes);
  return "refused" in request || typeOf(request) === undefined ? "no" : "sure";
}

/** A row for messages of some types. `read` gives what they report; undefined: it is malformed. */
function row(
  name: string,
  types: readonly string[] | undefined,
  read: (message: JsonObject, receivedAt: number) => Effect | undefined,
): MessageRow<Session> {
  return {
    name,
    ...(types && { keys: types }),
    handle(frame, _, { receivedAt }): Decoded<Session> {
      const request = parseHttpRequest(frame);
      if ("refused" in request) return refusal("malformed", false);
      const message = parseJson(request.body) ?? {};
      const effect = read(message, receivedAt);
      if (effect === undefined) return refusal("malformed", request.keepAlive);
      const ids = identifiersOf(request, message);
      if (ids.length === 0) return refusal("notIdentified", request.keepAlive);
      const key = secretOf(request.query, request);
      const answers = hasContentType(request, "application/json") ? acceptedOfApp : accepted;
      return {
        session,
        effects: [
          { type: "identify", ids, ...(key !== undefined && { secret: key }) },
          effect,
          { type: "reply", bytes: answers[`${request.keepAlive}`], when: "stored" },
        ],
      };
    },
  };
}

/** A row for messages that say nothing of where their device is or how it is. */
function nothingToStore(name: string, types: readonly string[], reason: string): MessageRow<Session> {
  return row(name, types, () => ({ type: "ignored", reason }));
}

function refusal(cause: "malformed" | "notIdentified" | "unsupported", keepAlive: boolean): Decoded<Session> {
  const effects: readonly Effect[] = [
    { type: "failure", cause },
    { type: "reply", bytes: refused[`${keepAlive}`], when: "now" },
  ];
  return { session, effects };
}

/**
 * The app keeps what was refused and encrypts it only when it sends it: nothing is lost once its user has taken the key
 * out of the settings.
 */
function refuseEncrypted(frame: Uint8Array): Decoded<Session> {
  const request = parseHttpRequest(frame);
  return refusal("unsupported", !("refused" in request) && request.keepAlive);
}

/**
 * OwnTracks in HTTP mode: one JSON message a POST, the same that the apps publish by MQTT. A message is answered with
 * 200 once it is stored, with 400 where it is malformed, encrypted or names no device.
 */
export const owntracks = defineProtocol<Session>({
  id: "owntracks",
  title: "OwnTracks (phone apps over HTTP)",
  transports: ["http"],
  defaultPort: 5144,
  manuals: [{ title: "OwnTracks Booklet: HTTP, JSON", version: "2026-06" }],
  detect,
  framer: httpFramer,
  secret,
  session,
  classify(frame) {
    const request = parseHttpRequest(frame);
    return "refused" in request ? undefined : typeOf(request);
  },
  messages: [
    row("location", ["location"], readLocation),
    row("transition", ["transition"], readLocation),
    row("beacon", ["beacon"], readBeacon),
    row("steps", ["steps"], readSteps),
    row("status", ["status"], readStatus),
    nothingToStore("waypoint, waypoints", ["waypoint", "waypoints"], "places that the app watches"),
    nothingToStore("lwt", ["lwt"], "last will"),
    nothingToStore("card", ["card"], "name and picture of a user"),
    nothingToStore("cmd", ["cmd"], "a command for an app"),
    nothingToStore("configuration", ["configuration", "dump"], "settings of the app"),
    nothingToStore("request", ["request"], "asks for a tour"),
    nothingToStore("empty payload", [empty], "a friend was deleted"),
    { name: "encrypted", keys: ["encrypted"], handle: refuseEncrypted },
    // The app would repeat for ever what is refused.
    row("another type", undefined, () => ({ type: "failure", cause: "unsupported" })),
  ],
  simulate,
});
