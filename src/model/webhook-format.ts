/** Bodies of webhooks: the service's own, those that Slack and Teams take, and a rule's own template. */
export const webhookFormats = ["waybeam", "slack", "teams", "template"] as const;
export type WebhookFormat = (typeof webhookFormats)[number];
