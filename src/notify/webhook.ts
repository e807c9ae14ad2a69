import { createHmac } from "node:crypto";
import type { WebhookCheck } from "../ports/alert-rule-check.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Delivery, WebhookCall, WebhookSender } from "../ports/mailer.ts";
import { createOutbound, type NotAnswered, type Outbound, type OutboundOptions, refusalOfUrl } from "./outbound.ts";

/** Time of a whole call, ms. */
const timeoutMs = 10_000;
/** Octets of an answer that are read: it says nothing that we need. */
const mostAnswer = 4096;

/** Whose address may be called, and in tests how a name is resolved and how long a call may take. */
export type WebhookOptions = Pick<OutboundOptions, "allowPrivate" | "resolve"> & { readonly timeoutMs?: number };

/**
 * Calls webhooks: POST with JSON, signed as Standard Webhooks has it (https://www.standardwebhooks.com): HMAC-SHA256
 * over `id.timestamp.body`. Redirects are not followed; 2xx is success, 410 says that it is gone for good, all else is
 * tried again. Whoever made the rule is told the kind of a failure; what the peer and the network said, addresses of
 * the operator's own network among it, is in the log.
 */
export function createWebhookSender(
  options: WebhookOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): WebhookSender {
  const call = createOutbound({ timeoutMs, ...options, mostAnswer });
  const calling = new Set<Promise<Outbound>>();
  return {
    async send(wish) {
      if (!URL.canParse(wish.url)) return { outcome: "refused", reason: "its address is no URL" };
      const { body } = wish;
      const outbound = { method: "POST", url: new URL(wish.url), headers: headersOf(wish, clock.now()), body };
      const answer = call(outbound);
      calling.add(answer);
      try {
        const became = await answer;
        if (became.outcome !== "answered") tell(log, wish, became);
        return judge(became);
      } finally {
        calling.delete(answer);
      }
    },
    async close() {
      await Promise.allSettled(calling);
    },
  };
}

/** What of a webhook's URL is known before it is called. */
export function createWebhookCheck(options: Pick<OutboundOptions, "allowPrivate">): WebhookCheck {
  return (url) => refusalOfUrl(url, options);
}

function headersOf(call: WebhookCall, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  return {
    "content-type": "application/json",
    "user-agent": "Waybeam",
    "webhook-id": call.id,
    "webhook-timestamp": timestamp,
    ...(call.secret !== "" && { "webhook-signature": `v1,${signature(call, timestamp)}` }),
    "webhook-attempt": String(call.attempt),
    "webhook-type": call.type,
  };
}

/**
 * A secret in the standard's own form (`whsec_` and base64) is the key that it encodes; any other text is the key
 * itself.
 */
function signature({ id, secret, body }: WebhookCall, timestamp: string): string {
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : secret;
  return createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
}

function tell(log: Log, { id, url }: WebhookCall, { outcome, detail }: NotAnswered): void {
  log.info({ notice: id, host: new URL(url).host, outcome, detail }, "a webhook can't be called");
}

function judge(answer: Outbound): Delivery {
  switch (answer.outcome) {
    case "forbidden":
      return { outcome: "refused", reason: answer.reason };
    case "unreachable":
      return { outcome: "unavailable", reason: `it can't be reached (${answer.reason})` };
    case "unanswered":
      return { outcome: "unavailable", reason: `it did not answer (${answer.reason})` };
    case "answered":
      return judgeStatus(answer);
  }
}

function judgeStatus({ status, headers }: Extract<Outbound, { readonly outcome: "answered" }>): Delivery {
  if (status >= 200 && status < 300) return { outcome: "accepted", peerId: String(status) };
  if (status === 410) return { outcome: "refused", reason: "it answered 410: it is gone" };
  if (status >= 300 && status < 400)
    return { outcome: "unavailable", reason: `it answered ${status}, a redirect; none is followed` };
  const after = status === 429 || status >= 500 ? headers["retry-after"] : undefined;
  const seconds = typeof after === "string" && /^\d+$/.test(after) ? Number(after) : undefined;
  const reason = `it answered ${status}`;
  return { outcome: "unavailable", reason, ...(seconds !== undefined && { retryAfterMs: seconds * 1000 }) };
}
