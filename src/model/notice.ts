import type { AlertCommand, Recipient, WebhookTarget } from "./alert-rule.ts";
import type { DeviceKey } from "./device.ts";

/** How a notice goes out. `command`: a command that the rule sends to the device. */
export type NoticeChannel = "email" | "sms" | "webhook" | "command";

/**
 * Where a notice stands. `queued`: waits for its turn or its next try · `sending`: given to the peer, which has not
 * answered yet (after a crash it is sent again under the same id) · `sent`: the peer took it · `failed`: given up ·
 * `suppressed`: deliberately not sent, for the reason given. The last three are final.
 */
export type NoticeState = "queued" | "sending" | "sent" | "failed" | "suppressed";

/** To whom or what a notice goes. */
export type NoticeTarget =
  | ({ readonly channel: "email" | "sms" } & Recipient)
  | ({ readonly channel: "webhook" } & WebhookTarget)
  | ({ readonly channel: "command"; readonly userKey: number } & AlertCommand);

/** A row of the outbox as it is written in its alert's own commit. */
export interface NewNotice {
  /** Public identifier (UUID): the same for every try, so a peer can tell a repeat. */
  readonly id: string;
  readonly alertId: string;
  readonly device: DeviceKey;
  readonly target: NoticeTarget;
  /** `suppressed` where it is known from the start that it must not be sent. */
  readonly state: "queued" | "suppressed";
  readonly reason: string | null;
  readonly creation: number;
  /** Not before. */
  readonly dueAt: number;
}

/** A notice and what became of it. */
export interface Notice extends Omit<NewNotice, "state"> {
  readonly key: number;
  /** Key of its device's account. */
  readonly account: number;
  readonly state: NoticeState;
  /** Tries so far. */
  readonly attempts: number;
  readonly finishedAt: number | null;
  /** What the peer calls it: message id of the mail server or SMS gateway, the status of the webhook. */
  readonly peerId: string | null;
  /** Day of the account whose counter it holds a place of, while it is being sent or was: retries take none again. */
  readonly countedDay: string | null;
  /** Its target is damaged in the database, and what stands for it is empty: of that only the channel is known. */
  readonly damaged?: NoticeChannel;
}
