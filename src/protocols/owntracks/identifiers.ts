import { appIdPattern } from "../../wire/app-report.ts";
import type { HttpRequest } from "../../wire/http.ts";
import { type JsonObject, textOf } from "../../wire/json.ts";

/** What an app publishes under by default: `owntracks/user/device`. */
const topicBase = /^owntracks\//;
/**
 * The topic that the Android app made up from its tracker id in HTTP mode before version 2.4; it says no more than
 * `tid`.
 */
const madeUp = /^owntracks\/http\//;

/**
 * The identifiers that a message's device may be registered under. `id` in the URL that was set up in the app stands
 * alone. Else user and device together, then the device alone, then the tracker id, two letters that somebody else may
 * have as well. User and device stand in the headers `X-Limit-U` and `X-Limit-D`, in the URL as `u` and `d`, or in the
 * topic. (Booklet, HTTP, Distinguishing payloads)
 */
export function identifiersOf({ headers, query }: HttpRequest, message: JsonObject): readonly string[] {
  const own = query.get("id")?.at(-1);
  if (own !== undefined) return [own].filter(isIdentifier);
  const topic = textOf(message.topic) ?? "";
  const path = madeUp.test(topic) ? "" : topic.replace(topicBase, "");
  const [topicUser, topicDevice] = path.split("/");
  const user = headers.get("x-limit-u") ?? query.get("u")?.at(-1) ?? topicUser ?? "";
  const device = headers.get("x-limit-d") ?? query.get("d")?.at(-1) ?? topicDevice ?? "";
  const both = user === "" || device === "" ? "" : `${user}/${device}`;
  const candidates = [both, path === "" ? "" : topic, device, textOf(message.tid) ?? ""];
  return [...new Set(candidates)].filter(isIdentifier);
}

function isIdentifier(text: string): boolean {
  return appIdPattern.test(text);
}
