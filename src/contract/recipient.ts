import Type, { type Static } from "typebox";
import type { RecipientChannel, RecipientState } from "../model/recipient.ts";
import { success } from "./envelope.ts";
import { accountIdForm, longestEmail, recipientCode, recipientForm } from "./forms.ts";
import { listed } from "./page.ts";
import { Instant, NullableInstant, PathId, reference } from "./schema.ts";

const channels: readonly RecipientChannel[] = ["email", "sms"];
const states: readonly RecipientState[] = ["pending", "confirmed", "refused"];
const accountId = "019a9f3e-7c1b-7e55-9d0b-3f6b2b8f6c11";

const state = Type.Unsafe<RecipientState>({
  type: "string",
  enum: [...states],
  description:
    "`pending`: it has not answered, and gets no notices yet. `confirmed`: it gets them. `refused`: it gets none, and is not asked again.",
});

const to = Type.String({
  maxLength: longestEmail,
  pattern: recipientForm,
  description: "An e-mail address, or a phone number with its country code after a +.",
  examples: ["ops@example.com"],
});

/** Somebody outside the account, and whether it wants notices. */
export const RecipientView = Type.Object(
  {
    id: Type.String(),
    channel: Type.Unsafe<RecipientChannel>({ type: "string", enum: [...channels] }),
    to: Type.String({ description: "E-mail address without capitals, or phone number without spaces." }),
    state,
    codeExpires: NullableInstant({
      description:
        "Until when the code that it was sent last confirms. Null: it has none; the code could not be sent, or five wrong ones ended it.",
    }),
    creation: Instant(),
    modification: Instant(),
  },
  {
    $id: "Recipient",
    description: "Somebody outside the account who was asked whether it wants the account's notices.",
    examples: [
      {
        id: "019ab305-9a01-7d2f-8f4e-0c6f6f0d1b22",
        channel: "email",
        to: "ops@example.com",
        state: "pending",
        codeExpires: "2026-11-28T10:29:00.000Z",
        creation: "2026-11-21T10:29:00.000Z",
        modification: "2026-11-21T10:29:00.000Z",
      },
    ],
  },
);
export type RecipientView = Static<typeof RecipientView>;

/** Path of a recipient. */
export const RecipientPath = Type.Object({ recipientId: PathId({ description: "Id of the recipient." }) });

/** Body of POST /api/recipients. */
export const RecipientRequest = Type.Object({ to }, { examples: [{ to: "ops@example.com" }] });
export type RecipientRequest = Static<typeof RecipientRequest>;

/** Body of POST /api/recipients/answer. */
export const RecipientReply = Type.Object(
  {
    account: Type.String({
      pattern: accountIdForm,
      description: "Id of the account that asks: in the message, and in GET /api/account.",
      examples: [accountId],
    }),
    to,
    code: Type.String({ pattern: recipientCode, description: "The code of the message.", examples: ["48213977"] }),
    answer: Type.Unsafe<"confirm" | "refuse">({ type: "string", enum: ["confirm", "refuse"] }),
  },
  { examples: [{ account: accountId, to: "ops@example.com", code: "48213977", answer: "confirm" }] },
);
export type RecipientReply = Static<typeof RecipientReply>;

const recipient = reference<RecipientView>("Recipient");

/** Answer of GET /api/recipients. */
export const RecipientsAnswer = success(listed("recipients", Type.Array(recipient)));
/** Answer with one recipient. */
export const RecipientAnswer = success({ recipient });
/** Answer to the recipient itself, who has no user and so no counters. */
export const ReplyAnswer = Type.Object(
  { success: Type.Literal(true), error: Type.Null(), state },
  { description: "Success" },
);
