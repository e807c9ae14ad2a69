import type { Log } from "../ports/log.ts";
import type { SmsBody, SmsResult, SmsSender } from "../ports/sms.ts";
import { messageId } from "./message-id.ts";
import { createOutbound, type Outbound, type OutboundCall, type OutboundOptions } from "./outbound.ts";
import { readPhone } from "./phone.ts";
import { Slots } from "./slots.ts";
import { countParts } from "./sms-parts.ts";
import { asItIs, encodeForJson, encodeForUrl, fill, type TemplateValues } from "./template.ts";

/**
 * The gateway's request and how its answer is read. Templates are as docs/sms.md says; the configuration has checked
 * them.
 */
export interface HttpOptions {
  readonly method: string;
  readonly url: string;
  /** A JSON object of strings, or empty. */
  readonly headers: string;
  readonly format: "json" | "form";
  readonly body: string;
  readonly binaryUrl: string;
  readonly binaryBody: string;
  readonly secret: string;
  /** Status codes and ranges, `200-299,302`. */
  readonly success: string;
  readonly idPath: string;
  readonly idPattern: string;
}

/** Requests at a time, and how many wait for their turn: a gateway that hangs must not pile up connections. */
const mostAtOnce = 16;
const mostWaiting = 1000;

/** Octets of an answer that are read: those of gateways have some hundred. */
const mostAnswer = 65_536;

/** Statuses that say "later", before anything was done. */
const later = new Set([408, 425, 429, 503]);

/** Sends by one HTTP request for each message. Gateways cut long texts themselves. There are no delivery receipts. */
export class HttpSender implements SmsSender {
  readonly binary: boolean;
  readonly #options: HttpOptions;
  readonly #timeoutMs: number;
  readonly #log: Log;
  readonly #call: (call: OutboundCall) => Promise<Outbound>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #slots = new Slots(mostAtOnce, mostWaiting);
  readonly #sending = new Set<Promise<SmsResult>>();
  #closed = false;

  constructor(options: HttpOptions, bounds: Omit<OutboundOptions, "mostAnswer">, log: Log) {
    this.#options = options;
    this.#timeoutMs = bounds.timeoutMs;
    this.#log = log;
    this.#call = createOutbound({ ...bounds, mostAnswer });
    this.binary = options.binaryUrl !== "" || options.binaryBody !== "";
    this.#headers = readHeaders(options);
  }

  /** The gateway cuts as it likes; the network's limits are the same for all. */
  parts(body: SmsBody): number {
    return countParts(body);
  }

  async send(to: string, body: SmsBody): Promise<SmsResult> {
    const phone = readPhone(to);
    if (phone === undefined) return { outcome: "refused", reason: "the phone number is not one" };
    if ("bytes" in body && !this.binary)
      return { outcome: "refused", reason: "the SMS gateway carries no binary messages" };
    if (("text" in body ? body.text : body.bytes).length === 0)
      return { outcome: "refused", reason: "the message is empty" };
    if (this.#closed) return { outcome: "unavailable", reason: "the service is stopping" };
    const { digits, international } = phone;
    const sending = this.#inTurn(this.#request(`${international ? "+" : ""}${digits}`, digits, body));
    this.#sending.add(sending);
    try {
      return await sending;
    } finally {
      this.#sending.delete(sending);
    }
  }

  onReceipt(): void {
    // An HTTP gateway tells nothing after its answer.
  }

  /** Waits for the answers to what was sent. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#sending);
  }

  #request(to: string, digits: string, body: SmsBody): OutboundCall {
    const { method, format, url, binaryUrl, secret } = this.#options;
    const binary = "bytes" in body;
    const bytes = binary ? Buffer.from(body.bytes) : Buffer.from(body.text.toWellFormed());
    const values: TemplateValues = {
      to,
      digits,
      secret,
      text: binary ? "" : body.text,
      hex: bytes.toString("hex").toUpperCase(),
      base64: bytes.toString("base64"),
    };
    const template = binary ? this.#options.binaryBody : this.#options.body;
    return {
      method,
      url: new URL(fill(binary && binaryUrl !== "" ? binaryUrl : url, values, encodeForUrl)),
      headers: { ...(template !== "" && { "content-type": contentTypes[format] }), ...this.#headers },
      body: template === "" ? undefined : fill(template, values, format === "json" ? encodeForJson : encodeForUrl),
    };
  }

  async #inTurn(call: OutboundCall): Promise<SmsResult> {
    if (!(await this.#slots.take(this.#timeoutMs)))
      return {
        outcome: "unavailable",
        reason: "too many messages wait for the SMS gateway",
        retryAfterMs: this.#timeoutMs,
      };
    try {
      const answer = await this.#call(call);
      const result = this.#judge(answer);
      if (result.outcome !== "accepted") this.#complain(answer, result.outcome);
      return result;
    } finally {
      this.#slots.give();
    }
  }

  #judge(answer: Outbound): SmsResult {
    switch (answer.outcome) {
      case "forbidden":
        return { outcome: "refused", reason: `the SMS gateway: ${answer.reason}` };
      case "unreachable":
        return { outcome: "unavailable", reason: `the SMS gateway can't be reached (${answer.reason})` };
      case "unanswered":
        return { outcome: "maybe", reason: `the SMS gateway took the request and did not answer (${answer.reason})` };
      case "answered":
        return this.#judgeStatus(answer);
    }
  }

  #judgeStatus({ status, headers, body }: Extract<Outbound, { readonly outcome: "answered" }>): SmsResult {
    const reason = `the SMS gateway answered ${status}`;
    if (isSuccess(this.#options.success, status)) return this.#accepted(body, reason);
    if (later.has(status)) {
      const after = retryAfter(headers["retry-after"]);
      return { outcome: "unavailable", reason, ...after, ...(status === 429 && { throttled: true }) };
    }
    if (status >= 300 && status < 400) return { outcome: "refused", reason: `${reason}, a redirect; none is followed` };
    return { outcome: status >= 500 ? "maybe" : "refused", reason };
  }

  #accepted(body: Buffer, reason: string): SmsResult {
    const { idPath, idPattern } = this.#options;
    if (idPath === "" && idPattern === "") return { outcome: "accepted", ids: [] };
    const id = messageId(body.toString(), idPath, idPattern);
    return id === undefined
      ? { outcome: "maybe", reason: `${reason} without a message id` }
      : { outcome: "accepted", ids: [id] };
  }

  /**
   * The answer's text is shown only at level debug: it may repeat the message, and a command's record is read by others
   * than the operator.
   */
  #complain(answer: Outbound, outcome: SmsResult["outcome"]): void {
    const { secret } = this.#options;
    const answered = answer.outcome === "answered";
    this.#log.warn(
      { outcome, ...(answered ? { status: answer.status } : { reason: answer.detail }) },
      "the SMS gateway did not take a message",
    );
    if (!answered) return;
    const text = answer.body.toString("utf8", 0, 2000);
    const said = [secret, encodeForUrl(secret), encodeForJson(secret)]
      .filter((form) => form !== "")
      .reduce((shown, form) => shown.replaceAll(form, "(secret)"), text);
    this.#log.debug({ said: said.slice(0, 300) }, "the answer of the SMS gateway");
  }
}

const contentTypes = { json: "application/json", form: "application/x-www-form-urlencoded" } as const;

function readHeaders({ headers, secret }: HttpOptions): Readonly<Record<string, string>> {
  const parsed: unknown = headers === "" ? {} : JSON.parse(headers);
  const values = { to: "", digits: "", text: "", hex: "", base64: "", secret };
  return Object.fromEntries(
    Object.entries(parsed ?? {}).map(([name, value]) => [name.toLowerCase(), fill(String(value), values, asItIs)]),
  );
}

function isSuccess(codes: string, status: number): boolean {
  return codes.split(",").some((range) => {
    const [from = "", to = from] = range.split("-");
    return status >= Number(from) && status <= Number(to);
  });
}

/** Seconds only; a date would need the gateway's clock. At most an hour, whatever it says. */
function retryAfter(header: unknown): { retryAfterMs?: number } {
  return typeof header === "string" && /^\d{1,9}$/.test(header)
    ? { retryAfterMs: Math.min(Number(header), 3600) * 1000 }
    : {};
}
