import type { FastifyInstance } from "fastify";
import {
  AccountAlertsAnswer,
  AccountAlertsQuery,
  AlertsActAnswer,
  AlertsActRequest,
} from "../../contract/account-alert.ts";
import { shortPage } from "../../contract/page.ts";
import { unknownTerms } from "../../domain/bodies.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import { pageAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

const path = "/api/alerts";

/** GET /api/alerts, and what people do with alerts. */
export function accountAlertsRoutes(app: App, plain: FastifyInstance, services: Services): void {
  const { accountAlerts } = services;
  plain.get<{ Querystring: AccountAlertsQuery }>(
    path,
    call({
      operationId: "listAccountAlerts",
      tag: "Alerts",
      summary: "List the alerts of all devices",
      description:
        "The alerts of the devices that the user sees, the newest first, each with its state. A page may be shorter than `limit` although more alerts follow: `nextCursor` says so.",
      permission: "see",
      input: { querystring: AccountAlertsQuery },
      ok: { 200: AccountAlertsAnswer },
      errors: ["deviceNotFound", "groupNotFound", "alertRuleNotFound"],
    }),
    async (request, reply) => {
      const { user } = callerOf(request);
      const { limit = String(shortPage), cursor, ...query } = request.query;
      return pageAnswer(
        request,
        reply,
        services,
        { limit, cursor },
        {
          name: "alerts",
          scope: ["alerts", user.accountKey, JSON.stringify(Object.entries(query).toSorted())],
          read: (ask) => accountAlerts.page(user, query, ask),
          text: JSON.stringify,
          place: String,
        },
      );
    },
  );
  actRoute(app, "acknowledge", services);
  actRoute(app, "close", services);
}

const acts = {
  acknowledge: {
    operationId: "acknowledgeAlerts",
    summary: "Acknowledge alerts",
    description:
      "Acknowledges the open alerts in the name of the user. The others stay as they are. A critical alert that is over already closes.",
  },
  close: {
    operationId: "closeAlerts",
    summary: "Close alerts",
    description:
      "Closes the open and acknowledged alerts in the name of the user. The others stay as they are. The rule and its devices stay as they are, too.",
  },
} as const;

function actRoute(app: App, act: keyof typeof acts, { accountAlerts }: Services): void {
  app.post(
    `${path}/${act}`,
    call({
      ...acts[act],
      tag: "Alerts",
      permission: "write",
      input: { body: AlertsActRequest },
      ok: { 200: AlertsActAnswer },
      errors: ["alertNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const alerts = await accountAlerts[act](caller.user, request.body);
      return answer(caller, { alerts: [...alerts] }, unknownTerms(request.body, AlertsActRequest.properties));
    },
  );
}
