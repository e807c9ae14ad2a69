/** One e-mail, plain text and HTML with the same content. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Becomes the Message-ID's left part: the same for every try, so that a repeat can be told. */
  readonly id: string;
}

/**
 * What became of handing something to a peer. `accepted`: it took it · `refused`: it never will · `unavailable`: trying
 * again later may help.
 */
export type Delivery =
  | { readonly outcome: "accepted"; readonly peerId: string }
  | { readonly outcome: "refused"; readonly reason: string }
  | { readonly outcome: "unavailable"; readonly reason: string; readonly retryAfterMs?: number };

/** A way to send e-mail. */
export interface Mailer {
  send(mail: Mail): Promise<Delivery>;
  close(): Promise<void>;
}

/** One call of a webhook: the body is signed as it stands. */
export interface WebhookCall {
  readonly url: string;
  /** Empty: it is not signed. */
  readonly secret: string;
  /** The notice's id, the same for every try. */
  readonly id: string;
  readonly attempt: number;
  readonly type: string;
  readonly body: string;
}

/** One message in a chat. */
export interface ChatMessage {
  /** Of the bot that sends it. */
  readonly token: string;
  readonly chat: string;
  readonly text: string;
}

/** A way to send messages in chats. */
export interface ChatSender {
  send(message: ChatMessage): Promise<Delivery>;
  close(): Promise<void>;
}

/** A way to call webhooks. */
export interface WebhookSender {
  send(call: WebhookCall): Promise<Delivery>;
  close(): Promise<void>;
}
