import type { Log } from "../ports/log.ts";
import type { ChatMessage, ChatSender, Delivery } from "../ports/mailer.ts";
import { createOutbound, type Outbound } from "./outbound.ts";

/** Where the Bot API is, and in tests how long a call may take. */
export interface TelegramOptions {
  readonly url: string;
  readonly timeoutMs?: number;
}

/** Time of a whole call, ms. */
const timeoutMs = 10_000;
/** Octets of an answer that are read: it repeats the message. */
const mostAnswer = 32_768;
/** What Telegram says of a failure is cut to that. */
const longestReason = 200;

/**
 * Sends messages of bots by Telegram's Bot API (https://core.telegram.org/bots/api#sendmessage). Each rule has a bot of
 * its own, by its token, which stands in the URL: neither is told in a reason or in the log. A message has no id at
 * Telegram before it is taken: where the answer is lost it is sent again, and may come twice.
 */
export function createTelegramSender({ url, ...options }: TelegramOptions, { log }: { readonly log: Log }): ChatSender {
  // The operator sets the address, which may be a server of the operator's own.
  const call = createOutbound({ timeoutMs, ...options, allowPrivate: true, mostAnswer });
  const calling = new Set<Promise<Outbound>>();
  return {
    async send({ token, chat, text }: ChatMessage) {
      const body = JSON.stringify({ chat_id: chat, text, link_preview_options: { is_disabled: true } });
      const headers = { "content-type": "application/json", "user-agent": "Waybeam" };
      const answer = call({ method: "POST", url: new URL(`${url}/bot${token}/sendMessage`), headers, body });
      calling.add(answer);
      try {
        const became = await answer;
        if (became.outcome === "answered") return judge(became.status, answerOf(became.body));
        log.info({ outcome: became.outcome, detail: became.detail }, "Telegram can't be reached");
        const reason = became.outcome === "unanswered" ? "did not answer" : "can't be reached";
        return { outcome: "unavailable", reason: `Telegram ${reason} (${became.reason})` };
      } finally {
        calling.delete(answer);
      }
    },
    async close() {
      await Promise.allSettled(calling);
    },
  };
}

/** The beginning of Telegram's answer to a message that it accepts. */
const beginsTaken = /^\s*\{\s*"ok"\s*:\s*true\b/;

/** What an answer says, as far as it has the form that is published. */
interface BotAnswer {
  readonly ok: boolean;
  readonly messageId: string;
  readonly description: string;
  readonly retryAfter: number | undefined;
}

function answerOf(body: Buffer): BotAnswer | undefined {
  try {
    const { ok, result, description, parameters } = Object(JSON.parse(body.toString()));
    const after: unknown = Object(parameters).retry_after;
    return {
      ok: ok === true,
      messageId: String(Object(result).message_id ?? ""),
      description: String(description ?? "").slice(0, longestReason),
      retryAfter: typeof after === "number" && after >= 0 ? after : undefined,
    };
  } catch {
    // The rest of the answer comes too slowly, or broke off. A second try would send the message twice.
    return beginsTaken.test(body.toString())
      ? { ok: true, messageId: "", description: "", retryAfter: undefined }
      : undefined;
  }
}

function judge(status: number, answer: BotAnswer | undefined): Delivery {
  if (status >= 200 && status < 300 && answer?.ok === true) return { outcome: "accepted", peerId: answer.messageId };
  const said = answer === undefined || answer.description === "" ? "" : `: ${answer.description}`;
  // A token that was revoked is not authorized; one that never was is not found.
  if (status === 401 || status === 404)
    return { outcome: "refused", reason: `Telegram does not know the bot's token (${status}${said})` };
  if (status === 400 || status === 403) return { outcome: "refused", reason: `Telegram refused it (${status}${said})` };
  const retryAfterMs = answer?.retryAfter === undefined ? {} : { retryAfterMs: answer.retryAfter * 1000 };
  return { outcome: "unavailable", reason: `Telegram answered ${status}${said}`, ...retryAfterMs };
}
