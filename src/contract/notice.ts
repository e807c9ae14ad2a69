import Type, { type Static } from "typebox";
import type { NoticeState } from "../model/notice.ts";
import { DevicePath } from "./device.ts";
import { success } from "./envelope.ts";
import { listed, PageQuery } from "./page.ts";
import { Instant, NullableInstant, NullableText, PathId, reference } from "./schema.ts";

const states: readonly NoticeState[] = ["queued", "sending", "sent", "failed", "suppressed"];

const example = {
  id: "019ab305-9a01-7d2f-8f4e-0c6f6f0d1b22",
  alertId: "4f9b1d5e-0c1f-4f43-9d0e-3b8a5a6f2c11",
  alertName: "Speed",
  channel: "Email",
  recipient: "ana@example.com",
  state: "sent",
  reason: null,
  attempts: 1,
  creation: "2026-11-21T10:29:01.204Z",
  finishedAt: "2026-11-21T10:29:02.310Z",
};

const viewed = {
  id: Type.String({ description: "The same for every try: by it a recipient can tell a repeat." }),
  alertId: Type.String(),
  alertName: NullableText({ description: "Null: the alert is not kept any longer." }),
  channel: Type.String({ description: "Email, SMS, Webhook or Command." }),
  recipient: NullableText({
    description:
      "E-mail address, phone number, origin and path of a webhook's URL, or the text of a command to the device. Null where the user may not see the rule or the rule was deleted. Users with `admin` always see the target, unless the database holds a damaged one; `reason` says so.",
  }),
  state: Type.Unsafe<NoticeState>({
    type: "string",
    enum: [...states],
    description: "`sending`: handed over, and not confirmed yet. `suppressed`: deliberately not sent, see `reason`.",
  }),
  reason: NullableText({
    description:
      "Why it was not sent, or what the last try met. Where `recipient` is null only what was suppressed has one.",
  }),
  attempts: Type.Integer({ description: "Tries so far." }),
  creation: Instant(),
  finishedAt: NullableInstant({ description: "Null: it is not final." }),
};

/** A notice and what became of it. */
export const NoticeView = Type.Object(viewed, {
  $id: "Notification",
  description: "A message about an alert to one recipient, and what became of it.",
  examples: [example],
});
export type NoticeView = Static<typeof NoticeView>;

/** Query of GET .../notifications. Query parameters are texts. */
export const NoticesQuery = Type.Object({
  ...PageQuery.properties,
  state: Type.Optional(
    Type.Unsafe<NoticeState>({ type: "string", enum: [...states], description: "Only notices in this state." }),
  ),
});
export type NoticesQuery = Static<typeof NoticesQuery>;

/** Path of one notice. */
export const NoticePath = Type.Object({
  ...DevicePath.properties,
  notificationId: PathId({ description: "The notification's id.", examples: [example.id] }),
});

/** Answer of GET .../notifications. */
export const NoticesAnswer = success(
  listed("notifications", Type.Array(reference<NoticeView>("Notification"), { description: "Newest first." })),
);
/** Answer with one notice. */
export const NoticeAnswer = success({ notification: reference<NoticeView>("Notification") });
