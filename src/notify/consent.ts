import type { Account } from "../model/account.ts";
import type { CapsOf } from "../model/caps.ts";
import type { NoticeTarget } from "../model/notice.ts";
import { recipientAddress } from "../model/recipient.ts";
import type { RecipientStore } from "../ports/recipients.ts";
import type { UserStore } from "../ports/store.ts";

/** Where whether somebody wants notices is read from. */
export interface ConsentStore {
  readonly recipients: Pick<RecipientStore, "find">;
  readonly users: Pick<UserStore, "findByEmail">;
}

/**
 * Why a notice must not go to its recipient; undefined: it may. Who refused gets none, whatever the account is allowed.
 * People outside the account confirm first that they want its notices, unless the operator lets the account do without;
 * its users are not outside.
 */
export async function withoutConsent(
  store: ConsentStore,
  capsOf: CapsOf,
  account: Account,
  target: NoticeTarget,
): Promise<string | undefined> {
  const { channel } = target;
  if (channel !== "email" && channel !== "sms") return undefined;
  const address = recipientAddress(channel, target.to);
  const recipient = await store.recipients.find({ accountKey: account.key, channel, address });
  if (recipient?.state === "refused") return "the recipient refused the account's notices";
  if (recipient?.state === "confirmed" || capsOf(account).unconfirmedRecipients) return undefined;
  const user = channel === "email" ? await store.users.findByEmail(address) : undefined;
  if (user?.accountKey === account.key) return undefined;
  return "the recipient has not confirmed that it wants the account's notices";
}
