import { setTimeout } from "node:timers/promises";
import type { Pdu } from "smpp";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { SmsBody, SmsReceipt, SmsResult, SmsSender } from "../ports/sms.ts";
import { type Phone, readPhone } from "./phone.ts";
import { readReceipt } from "./receipt.ts";
import { Slots } from "./slots.ts";
import { type ConnectionOptions, SmppConnection } from "./smpp-connection.ts";
import smpp from "./smpp-library.ts";
import { type SmppLink, statusName } from "./smpp-link.ts";
import { countParts, type EncodedSms, encodeSms } from "./sms-parts.ts";

/** The gateway and how we send by it. */
export interface SmppOptions extends ConnectionOptions {
  /** Sender's address; empty: the gateway's own. */
  readonly source: string;
  /** Submits that may be without an answer at a time. */
  readonly window: number;
  readonly maxParts: number;
  /** How long nothing is sent after the gateway asked for less. */
  readonly throttleMs: number;
}

/** Messages that may wait for a place in the window; each has `answerMs` to get one. */
const mostWaiting = 1000;

/** Answers that say "later" (SMPP 3.4, 5.1.3): the first two ask for less, the others tell of trouble that passes. */
const throttling = new Set([smpp.errors.ESME_RTHROTTLED, smpp.errors.ESME_RMSGQFUL]);
const passing = new Set([
  smpp.errors.ESME_RSYSERR,
  smpp.errors.ESME_RINVBNDSTS,
  smpp.errors.ESME_RX_T_APPN,
  smpp.errors.ESME_RSERTYPUNAVAIL,
]);

/** Sends by SMPP 3.4, over one connection that is kept up. */
export class SmppSender implements SmsSender {
  readonly binary = true;
  readonly #options: SmppOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #connection: SmppConnection;
  readonly #slots: Slots;
  readonly #listeners: ((receipt: SmsReceipt) => Promise<void>)[] = [];
  readonly #sending = new Set<Promise<SmsResult>>();
  /** Tells the parts of one long message from another's; starts anywhere, so that a restart does not repeat it. */
  #reference: number;
  #throttledUntil = 0;
  #closed = false;

  constructor(options: SmppOptions, deps: { readonly clock: Clock; readonly log: Log }) {
    this.#options = options;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#reference = deps.clock.now() & 0xff;
    this.#slots = new Slots(options.window, mostWaiting);
    this.#connection = new SmppConnection(options, { ...deps, onMessage: (pdu) => this.#message(pdu) });
  }

  /** Whether the gateway has bound us. */
  get connected(): boolean {
    return this.#connection.bound;
  }

  parts(body: SmsBody): number {
    return countParts(body);
  }

  async send(to: string, body: SmsBody): Promise<SmsResult> {
    const phone = readPhone(to);
    if (phone === undefined) return { outcome: "refused", reason: "the phone number is not one" };
    if (("text" in body ? body.text : body.bytes).length === 0)
      return { outcome: "refused", reason: "the message is empty" };
    this.#reference = (this.#reference + 1) & 0xff;
    const message = encodeSms(body, this.#reference);
    const { maxParts } = this.#options;
    if (message === undefined || message.parts.length > maxParts)
      return { outcome: "refused", reason: `the message needs more than ${maxParts} parts` };
    if (this.#closed) return { outcome: "unavailable", reason: "the service is stopping" };
    const sending = this.#inTurn(phone, message);
    this.#sending.add(sending);
    try {
      return await sending;
    } finally {
      this.#sending.delete(sending);
    }
  }

  onReceipt(listener: (receipt: SmsReceipt) => Promise<void>): void {
    this.#listeners.push(listener);
  }

  /** Waits for the answers to what was sent, unbinds and closes. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#sending);
    await this.#connection.close();
  }

  /** All of a message within `answerMs`, whatever of that the waiting takes. */
  async #inTurn(phone: Phone, message: EncodedSms): Promise<SmsResult> {
    const { answerMs } = this.#options;
    const deadline = this.#clock.monotonic() + answerMs;
    if (!(await this.#slots.take(answerMs))) return unavailable("too many messages wait for the SMS gateway", answerMs);
    try {
      return await this.#submitParts(phone, message, deadline);
    } finally {
      this.#slots.give();
    }
  }

  /**
   * One part after the other. The phone shows a message only with all of its parts, so a failure before the last one
   * means that nothing arrived, and the whole may be sent again; only the last part's missing answer leaves a doubt.
   * What was handed over is paid all the same: it is told.
   */
  async #submitParts(phone: Phone, { dataCoding, parts }: EncodedSms, deadline: number): Promise<SmsResult> {
    const link = await this.#connection.link(deadline - this.#clock.monotonic());
    if ("reason" in link) return unavailable(`no connection to the SMS gateway: ${link.reason}`, link.retryAfterMs);
    const ids: (string | null)[] = [];
    for (let index = 0; index < parts.length; ) {
      const pause = Math.ceil(this.#throttledUntil - this.#clock.monotonic());
      const left = deadline - this.#clock.monotonic();
      // A message that is begun waits for leave to go on: one sent anew each time would never end where its parts alone
      // are too many.
      if (pause > 0 && (index === 0 || pause >= left)) return throttled("the SMS gateway asked for less", pause, index);
      if (left <= 0) return unavailable("the SMS gateway is too slow for so many parts", this.#options.answerMs, index);
      if (pause > 0) {
        await setTimeout(pause);
        continue;
      }
      const fields = this.#fields(phone, dataCoding, parts[index], parts.length > 1);
      const result = await this.#submit(link, fields, left, index === parts.length - 1);
      if (result.outcome === "accepted") {
        ids.push(...result.ids);
        index++;
      } else if (index === 0 || this.#throttledUntil <= this.#clock.monotonic()) return withSent(result, index);
    }
    return { outcome: "accepted", ids };
  }

  #fields(
    phone: Phone,
    dataCoding: number,
    part: Buffer | undefined,
    withHeader: boolean,
  ): Readonly<Record<string, unknown>> {
    const { source } = this.#options;
    return {
      ...sourceAddress(source),
      dest_addr_ton: phone.international ? 1 : 0,
      dest_addr_npi: 1,
      destination_addr: phone.digits,
      esm_class: withHeader ? 0x40 : 0,
      registered_delivery: 1,
      data_coding: dataCoding,
      short_message: part,
    };
  }

  async #submit(
    link: SmppLink,
    fields: Readonly<Record<string, unknown>>,
    waitMs: number,
    last: boolean,
  ): Promise<SmsResult> {
    const answer = await link.request("submit_sm", fields, waitMs);
    if (answer === "unsent") return unavailable("the connection to the SMS gateway broke", this.#options.firstPauseMs);
    if (typeof answer === "string") {
      const reason =
        answer === "timeout"
          ? "the SMS gateway did not answer in time"
          : "the connection to the SMS gateway broke before it answered";
      // It may have been taken, so it may be paid.
      return last ? { outcome: "maybe", reason } : unavailable(reason, this.#options.firstPauseMs, 1);
    }
    this.#connection.works();
    const { command_status: status, message_id: id } = answer.pdu;
    if (status === 0) return { outcome: "accepted", ids: [id || null] };
    const reason = `the SMS gateway answered ${statusName(status)}`;
    if (!throttling.has(status))
      return passing.has(status) ? unavailable(reason, this.#options.throttleMs) : { outcome: "refused", reason };
    const { throttleMs } = this.#options;
    this.#throttledUntil = this.#clock.monotonic() + throttleMs;
    return throttled(reason, throttleMs);
  }

  /** Whether the message is taken: a receipt that could not be kept is not. */
  async #message(pdu: Pdu): Promise<boolean> {
    const receipt = readReceipt(pdu);
    if (receipt === undefined) {
      this.#log.debug({ esmClass: pdu.esm_class }, "the SMS gateway sent a message that is no final receipt");
      return true;
    }
    const kept = await Promise.allSettled(this.#listeners.map((listener) => listener(receipt)));
    const failed = kept.filter((one) => one.status === "rejected");
    for (const { reason } of failed)
      this.#log.warn({ error: reason }, "a delivery receipt could not be kept; the SMS gateway is asked for it again");
    return failed.length === 0;
  }
}

function unavailable(reason: string, retryAfterMs: number, sent = 0): SmsResult {
  return withSent({ outcome: "unavailable", reason, retryAfterMs }, sent);
}

function throttled(reason: string, retryAfterMs: number, sent = 0): SmsResult {
  return withSent({ outcome: "unavailable", reason, retryAfterMs, throttled: true }, sent);
}

/** The same result of a message of which so many parts more were handed over. */
function withSent(result: SmsResult, more: number): SmsResult {
  if (more === 0 || result.outcome === "accepted" || result.outcome === "maybe") return result;
  return { ...result, sent: (result.sent ?? 0) + more };
}

/**
 * Type and plan of the sender's address (SMPP 3.4, 5.2.5): international with +, alphanumeric with letters, otherwise
 * left to the gateway.
 */
function sourceAddress(source: string): Readonly<Record<string, unknown>> {
  if (source.startsWith("+")) return { source_addr_ton: 1, source_addr_npi: 1, source_addr: source.slice(1) };
  if (/\D/.test(source)) return { source_addr_ton: 5, source_addr_npi: 0, source_addr: source };
  return { source_addr_ton: 0, source_addr_npi: source === "" ? 0 : 1, source_addr: source };
}
