import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DoneAnswer } from "../../contract/device.ts";
import { PageQuery } from "../../contract/page.ts";
import {
  RecipientAnswer,
  RecipientPath,
  RecipientReply,
  RecipientRequest,
  RecipientsAnswer,
  ReplyAnswer,
} from "../../contract/recipient.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import { pageAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";
import { TokenLimits } from "../token-limits.ts";

const path = "/api/recipients";

/** GET and POST /api/recipients, DELETE of one, and the recipient's own answer. */
export function recipientsRoutes(app: App, plain: FastifyInstance, services: Services): void {
  const { recipients } = services;
  plain.get<{ Querystring: PageQuery }>(
    path,
    call({
      operationId: "listRecipients",
      tag: "Alerts",
      summary: "List the people outside the account who were asked",
      description:
        "Each with its answer: whether it wants the account's notices. In the order in which they were first asked.",
      permission: "admin",
      input: { querystring: PageQuery },
      ok: { 200: RecipientsAnswer },
    }),
    async (request, reply) => {
      const { user } = callerOf(request);
      return pageAnswer(request, reply, services, request.query, {
        name: "recipients",
        scope: ["recipients", user.accountKey],
        read: (ask) => recipients.page(user, ask),
        text: JSON.stringify,
        place: Number,
      });
    },
  );

  app.post(
    path,
    call({
      operationId: "askRecipient",
      tag: "Alerts",
      summary: "Ask somebody outside the account whether it wants notices",
      description:
        "Sends a code by e-mail or SMS, good for seven days; the code before ends. Who has answered is not asked again. An SMS needs the privilege `sendSmsAlerts`. The code counts to the account's e-mails or SMS of the day.",
      permission: "write",
      input: { body: RecipientRequest },
      ok: { 200: RecipientAnswer },
      errors: ["codeLimit", "recipientLimit", "mailNotConfigured", "smsNotConfigured"],
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, { recipient: await recipients.ask(caller.user, request.body) });
    },
  );
  answerRoute(app, services);
  removeRoute(app, services);
}

function removeRoute(app: App, { recipients }: Services): void {
  app.delete(
    `${path}/:recipientId`,
    call({
      operationId: "deleteRecipient",
      tag: "Alerts",
      summary: "Forget somebody outside the account",
      description:
        "The recipient gets no more notices until somebody asks again and the recipient confirms. A recipient who refused can't be deleted, and is not asked again. A recipient who was sent a code today can be deleted tomorrow.",
      permission: "admin",
      input: { params: RecipientPath },
      ok: { 200: DoneAnswer },
      errors: ["recipientNotFound", "recipientKept", "unsupportedMediaType"],
    }),
    async (request) => {
      const caller = callerOf(request);
      await recipients.remove(caller.user, request.params.recipientId);
      return answer(caller, {});
    },
  );
}

function answerRoute(app: App, { recipients, limits, bus, clock }: Services): void {
  const tries = new TokenLimits(limits.tokenRequestsPerMinute, "recipients", { bus, clock });
  // Before the body is looked at, so that malformed requests count too.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => tries.countAddress(request, reply);
  const options = call({
    operationId: "answerAsRecipient",
    tag: "Alerts",
    summary: "Answer as the recipient",
    description:
      "Confirms that the recipient wants the account's notices, or refuses them for good. The code of the message is all that is asked for; five wrong ones end it. A code refuses also after its seven days, and after it confirmed.",
    permission: "public",
    input: { body: RecipientReply },
    ok: { 200: ReplyAnswer },
    errors: ["wrongCode", "tooManyRequests"],
  });
  app.post(`${path}/answer`, { ...options, onRequest }, async ({ body }) => ({
    success: true as const,
    error: null,
    state: await recipients.answer(body),
  }));
}
