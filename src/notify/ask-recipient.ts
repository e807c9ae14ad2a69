import type { Mailer } from "../ports/mailer.ts";
import type { RecipientAsking, RecipientQuestion } from "../ports/recipients.ts";
import type { SmsSender } from "../ports/sms.ts";
import { type Question, questionMail, questionSms } from "../wording/index.ts";

/**
 * Asks by the mail server and the SMS gateway that notices go by. `url`: where people outside reach the service; empty:
 * nowhere.
 */
export function createRecipientAsking(ways: {
  readonly mailer: Mailer | undefined;
  readonly sms: SmsSender | undefined;
  readonly url: string;
}): RecipientAsking {
  const { mailer, sms, url } = ways;

  function worded({ account, to, language, code }: RecipientQuestion): Question {
    const base = url.replace(/\/+$/, "");
    const link = url === "" ? undefined : `${base}/recipients#${account.id}/${encodeURIComponent(to)}`;
    return { account, language, code, service: URL.parse(url)?.host ?? "Waybeam", link };
  }

  return {
    parts(question) {
      if (question.channel === "email") return mailer && 1;
      return sms?.parts({ text: questionSms(worded(question)) });
    },
    async send(question) {
      const { id, channel, to } = question;
      const none = { outcome: "unavailable", reason: "nothing is configured to send it" } as const;
      if (channel === "email") return (await mailer?.send({ id, to, ...questionMail(worded(question)) })) ?? none;
      const sent = await sms?.send(to, { text: questionSms(worded(question)) });
      if (sent === undefined) return none;
      // What may have been sent holds: a code that nobody got can be asked for again.
      if (sent.outcome === "accepted" || sent.outcome === "maybe") return { outcome: "accepted", peerId: "" };
      return { outcome: sent.outcome, reason: sent.reason };
    },
  };
}
