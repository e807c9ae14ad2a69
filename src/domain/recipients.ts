import { createHmac } from "node:crypto";
import type { RecipientReply, RecipientRequest, RecipientView } from "../contract/recipient.ts";
import { formatInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import { type Account, maySendSmsAlerts, type User } from "../model/account.ts";
import { dayIn, secondsToNextDayIn } from "../model/account-day.ts";
import type { CapsOf } from "../model/caps.ts";
import type { Language } from "../model/language.ts";
import { type OutsideRecipient, type RecipientState, recipientAddress } from "../model/recipient.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Delivery } from "../ports/mailer.ts";
import type { PageAsk } from "../ports/pages.ts";
import type { Asked, CodeLimits, RecipientAsking, RecipientName, RecipientQuestion } from "../ports/recipients.ts";
import type { Store } from "../ports/store.ts";
import { isEmail } from "./email.ts";
import { type Listed, listedOf } from "./listed.ts";

/** People outside the account whom its rules name, and whether they want its notices. */
export interface Recipients {
  page(caller: User, ask: PageAsk): Promise<Listed<RecipientView>>;
  /**
   * Sends somebody a code by which it answers. Who has answered is not asked again.
   * @throws ApiError `badRequest` (the address is not valid, or the mail server or gateway refuses it),
   * `permissionDenied`, `codeLimit`, `recipientLimit`, `mailNotConfigured`, `smsNotConfigured`, `unavailable`
   */
  ask(caller: User, body: RecipientRequest): Promise<RecipientView>;
  /** The recipient's own answer: who has the code is the recipient. @throws ApiError `wrongCode` */
  answer(reply: RecipientReply): Promise<RecipientState>;
  /** Forgets somebody. @throws ApiError `recipientNotFound`, `recipientKept` */
  remove(caller: User, id: string): Promise<void>;
  /** Asks somebody whom a rule names, unless it needs no asking. Its code is sent after this resolves. */
  askNamed(account: Account, named: RecipientName, language: Language): Promise<Asked | "unreachable">;
  /** Waits for what is being sent. */
  stop(): Promise<void>;
}

/** What recipients need of the service. */
export interface RecipientsContext {
  readonly store: Pick<Store, "recipients" | "accounts">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly capsOf: CapsOf;
  readonly asking: RecipientAsking;
  readonly limits: CodeLimits;
  /** Key of the codes' hashes: without it all codes could be tried on a copy of the database. */
  readonly codeKey: string;
}

/** How long a code can confirm, ms. A week covers a weekend and a holiday. */
const codeMs = 7 * 86_400_000;
/**
 * How long a code is valid until its sending is confirmed, ms. No mail server or gateway takes longer. If a crash
 * prevents the sending, the next request sends a new code.
 */
const sendingMs = 600_000;
/** Digits that people type and read out: five wrong tries at eight of them hit once in twenty million. */
const codeDigits = 8;
const mostWrong = 5;
/** Seconds after which to ask again where nobody can be reached. */
const retrySeconds = 60;

/** The recipients over their store. */
export function createRecipients(context: RecipientsContext): Recipients {
  return new StoredRecipients(context);
}

class StoredRecipients implements Recipients {
  readonly #context: RecipientsContext;
  readonly #sending = new Set<Promise<unknown>>();

  constructor(context: RecipientsContext) {
    this.#context = context;
  }

  async page({ accountKey }: User, ask: PageAsk): Promise<Listed<RecipientView>> {
    const found = listedOf(await this.#context.store.recipients.page(accountKey, ask));
    return { ...found, items: found.items.map(recipientView) };
  }

  async ask(caller: User, { to }: RecipientRequest): Promise<RecipientView> {
    const { store, clock } = this.#context;
    const { accountKey } = caller;
    const name = nameOf(accountKey, to);
    if (name === undefined) throw new ApiError("badRequest", ["body/to: must be an e-mail address or a phone number"]);
    if (name.channel === "sms" && !maySendSmsAlerts(caller))
      throw new ApiError("permissionDenied", ["needs the privilege sendSmsAlerts"]);
    const account = await store.accounts.find(accountKey);
    if (account === undefined) throw new ApiError("invalidToken");
    const { asked, sent } = await this.#ask(account, name, account.language, true);
    if (asked === "unreachable") throw unreachable(name);
    if (!("recipient" in asked)) throw refusalOf(asked.outcome, account, clock.now(), this.#context.limits);
    const delivery = await sent;
    if (delivery?.outcome === "refused")
      throw new ApiError("badRequest", [`body/to: can't be reached: ${delivery.reason}`]);
    if (delivery?.outcome === "unavailable")
      throw new ApiError("unavailable", [`the code could not be sent: ${delivery.reason}`], retrySeconds);
    const found = await store.recipients.find(name);
    return recipientView(found ?? asked.recipient);
  }

  async remove({ accountKey }: User, id: string): Promise<void> {
    const { store, clock } = this.#context;
    const removed = await store.recipients.remove(accountKey, id, dayIn("UTC", clock.now()));
    if (removed === "missing") throw new ApiError("recipientNotFound");
    if (removed === "refused")
      throw new ApiError("recipientKept", ["it refused, and stays, so that it is not asked again"]);
    if (removed === "asked")
      throw new ApiError("recipientKept", ["it was sent a code today, and can be deleted tomorrow (UTC)"]);
  }

  async askNamed(account: Account, named: RecipientName, language: Language): Promise<Asked | "unreachable"> {
    return (await this.#ask(account, named, language, false)).asked;
  }

  async answer({ account: id, to, code, answer }: RecipientReply): Promise<RecipientState> {
    const { store, clock } = this.#context;
    const account = await store.accounts.findById(id);
    const name = account && nameOf(account.key, to);
    if (name === undefined) throw new ApiError("wrongCode");
    const hash = this.#hash(name, code.replaceAll(" ", ""));
    const state = answer === "confirm" ? "confirmed" : "refused";
    const result = await store.recipients.answer(name, hash, state, mostWrong, clock.now());
    if (result === "wrong") throw new ApiError("wrongCode");
    return result.state;
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#sending);
  }

  /** `sent`: what comes of sending the code; undefined: there is nothing to send. */
  async #ask(account: Account, name: RecipientName, language: Language, again: boolean) {
    const { store, clock, ids, capsOf, asking, limits } = this.#context;
    const { channel, address } = name;
    const code = newCode(ids);
    const question = { id: ids.uuid(), channel, to: address, account, language, code };
    const parts = asking.parts(question);
    if (parts === undefined) return { asked: "unreachable" as const };
    const now = clock.now();
    const caps = capsOf(account);
    const hash = this.#hash(name, code);
    const asked = await store.recipients.ask(
      name,
      {
        ...{ id: ids.uuid(), hash, expires: now + sendingMs, day: dayIn("UTC", now), parts, again },
        accountDay: dayIn(account.timeZone, now),
        accountLimit: channel === "email" ? caps.dailyEmails : caps.dailySms,
      },
      limits,
      now,
    );
    if (asked.outcome !== "asked") return { asked };
    const sent = this.#send(question, asked.recipient.key, hash, now + codeMs);
    this.#sending.add(sent);
    sent.finally(() => this.#sending.delete(sent));
    return { asked, sent };
  }

  /** Never rejects. A code that was not sent is withdrawn, so that it can be asked for anew. */
  async #send(question: RecipientQuestion, key: number, hash: string, expires: number): Promise<Delivery> {
    const { asking, store, log } = this.#context;
    let delivery: Delivery = { outcome: "unavailable", reason: "an error of the service, which its log tells of" };
    try {
      delivery = await asking.send(question);
      if (delivery.outcome === "accepted") {
        await store.recipients.confirmSent(key, hash, expires);
        return delivery;
      }
      log.warn({ account: question.account.id, reason: delivery.reason }, "a recipient's code could not be sent");
      await store.recipients.withdraw(key, hash);
    } catch (error) {
      log.error({ error, account: question.account.id }, "a recipient's code could not be sent");
    }
    return delivery;
  }

  #hash({ accountKey, channel, address }: RecipientName, code: string): string {
    return createHmac("sha256", this.#context.codeKey)
      .update(`${accountKey} ${channel} ${address} ${code}`, "utf8")
      .digest("hex");
  }
}

/** Undefined: neither an e-mail address nor a phone number. */
function nameOf(accountKey: number, to: string): RecipientName | undefined {
  if (to.includes("@"))
    return isEmail(to) ? { accountKey, channel: "email", address: recipientAddress("email", to) } : undefined;
  const address = recipientAddress("sms", to);
  return /^\+?\d{3,20}$/.test(address) ? { accountKey, channel: "sms", address } : undefined;
}

function unreachable({ channel }: RecipientName): ApiError {
  return new ApiError(channel === "sms" ? "smsNotConfigured" : "mailNotConfigured", [], retrySeconds);
}

function refusalOf(
  outcome: "address" | "account" | "sent" | "full",
  { timeZone }: Account,
  now: number,
  { codesToAddress, codesOfAccount, perAccount }: CodeLimits,
): ApiError {
  switch (outcome) {
    case "address":
      return new ApiError(
        "codeLimit",
        [`one address gets ${codesToAddress} codes a day`],
        secondsToNextDayIn("UTC", now),
      );
    case "account":
      return new ApiError(
        "codeLimit",
        [`an account sends ${codesOfAccount} codes a day`],
        secondsToNextDayIn("UTC", now),
      );
    case "sent":
      return new ApiError(
        "codeLimit",
        ["the e-mails or SMS of the account's day do not suffice"],
        secondsToNextDayIn(timeZone, now),
      );
    case "full":
      return new ApiError("recipientLimit", [`an account asks ${perAccount} people`]);
  }
}

function recipientView(recipient: OutsideRecipient): RecipientView {
  const { id, channel, address, state, codeExpires, creation, modification } = recipient;
  return {
    ...{ id, channel, to: address, state },
    codeExpires: codeExpires === null ? null : formatInstant(codeExpires),
    creation: formatInstant(creation),
    modification: formatInstant(modification),
  };
}

function newCode(ids: Ids): string {
  const random = Buffer.from(ids.secret(6), "base64url").readUIntBE(0, 6);
  return String(random % 10 ** codeDigits).padStart(codeDigits, "0");
}
