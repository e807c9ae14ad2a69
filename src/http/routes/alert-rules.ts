import type { FastifyInstance } from "fastify";
import {
  AlertRuleAnswer,
  AlertRuleBody,
  AlertRulePath,
  AlertRulesAnswer,
  CopyRequest,
} from "../../contract/alert-rule.ts";
import { DoneAnswer } from "../../contract/device.ts";
import { PageQuery } from "../../contract/page.ts";
import { PatchRequest } from "../../contract/patch.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { checkerOf } from "../check.ts";
import { answer, callerOf } from "../envelope.ts";
import { pageAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

const path = "/api/alertRules/:ruleId";
const rights =
  "Watches only devices and groups that the user sees. SMS recipients need the privilege `sendSmsAlerts`, commands `sendCommands` or `sendSmsCommands`.";

/** GET and POST /api/alertRules; GET, PUT, PATCH and DELETE /api/alertRules/{ruleId}, and its copying. */
export function alertRulesRoutes(app: App, plain: FastifyInstance, services: Services): void {
  listRoute(plain, services);
  createRoute(app, services);
  readRoute(app, services);
  replaceRoute(app, services);
  patchRoute(app, services);
  removeRoute(app, services);
  copyRoute(app, services);
}

function listRoute(app: FastifyInstance, services: Services): void {
  const { alertRules } = services;
  app.get<{ Querystring: PageQuery }>(
    "/api/alertRules",
    call({
      operationId: "listAlertRules",
      tag: "Alerts",
      summary: "List the alert rules",
      description:
        "All of the account, in the order of their making; for a user without `admin` those of which it sees every device and group.",
      permission: "see",
      input: { querystring: PageQuery },
      ok: { 200: AlertRulesAnswer },
    }),
    async (request, reply) => {
      const { user } = callerOf(request);
      return pageAnswer(request, reply, services, request.query, {
        name: "rules",
        scope: ["rules", user.accountKey],
        read: (ask) => alertRules.page(user, ask),
        text: JSON.stringify,
        place: Number,
      });
    },
  );
}

function createRoute(app: App, { alertRules }: Services): void {
  app.post(
    "/api/alertRules",
    call({
      operationId: "createAlertRule",
      record: true,
      tag: "Alerts",
      summary: "Create an alert rule",
      description: rights,
      permission: "write",
      input: { body: AlertRuleBody },
      ok: { 201: AlertRuleAnswer },
      invalid: "invalidInput",
      errors: ["alertRuleLimit", "deviceRuleLimit", "webhookLimit", "storageLimit"],
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      const { rule, warnings } = await alertRules.create(caller.user, request.body);
      reply.code(201).header("location", `/api/alertRules/${encodeURIComponent(rule.id)}`);
      return answer(caller, rule, warnings);
    },
  );
}

function readRoute(app: App, { alertRules }: Services): void {
  app.get(
    path,
    call({
      operationId: "readAlertRule",
      record: true,
      tag: "Alerts",
      summary: "Read an alert rule",
      permission: "see",
      input: { params: AlertRulePath },
      ok: { 200: AlertRuleAnswer },
      errors: ["alertRuleNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, await alertRules.find(caller.user, request.params.ruleId));
    },
  );
}

function replaceRoute(app: App, { alertRules }: Services): void {
  app.put(
    path,
    call({
      operationId: "replaceAlertRule",
      record: true,
      tag: "Alerts",
      summary: "Replace an alert rule's fields",
      description: `What the body leaves out is reset, but for the secret of a webhook whose URL stays. ${rights}`,
      permission: "write",
      input: { params: AlertRulePath, body: AlertRuleBody },
      ok: { 200: AlertRuleAnswer },
      invalid: "invalidInput",
      errors: ["alertRuleNotFound", "deviceRuleLimit", "webhookLimit", "storageLimit"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { rule, warnings } = await alertRules.replace(caller.user, request.params.ruleId, request.body);
      return answer(caller, rule, warnings);
    },
  );
}

function patchRoute(app: App, { alertRules }: Services): void {
  app.patch(
    path,
    call({
      operationId: "patchAlertRule",
      record: true,
      tag: "Alerts",
      summary: "Change some of an alert rule's fields",
      description: `A JSON Patch (RFC 6902), all of it or nothing; its result is checked like the body of a PUT. ${rights}`,
      permission: "write",
      input: { params: AlertRulePath, body: PatchRequest },
      ok: { 200: AlertRuleAnswer },
      invalid: "invalidPatch",
      errors: [
        "alertRuleNotFound",
        "patchTestFailed",
        "invalidInput",
        "deviceRuleLimit",
        "webhookLimit",
        "storageLimit",
      ],
    }),
    async (request) => {
      const caller = callerOf(request);
      const check = checkerOf(request, AlertRuleBody, "invalidInput");
      const { rule, warnings } = await alertRules.patch(caller.user, request.params.ruleId, request.body, check);
      return answer(caller, rule, warnings);
    },
  );
}

function removeRoute(app: App, { alertRules }: Services): void {
  app.delete(
    path,
    call({
      operationId: "deleteAlertRule",
      tag: "Alerts",
      summary: "Delete an alert rule",
      description: "The alerts that it raised stay.",
      permission: "write",
      input: { params: AlertRulePath },
      ok: { 200: DoneAnswer },
      errors: ["alertRuleNotFound", "unsupportedMediaType"],
    }),
    async (request) => {
      const caller = callerOf(request);
      await alertRules.remove(caller.user, request.params.ruleId);
      return answer(caller, {});
    },
  );
}

function copyRoute(app: App, { alertRules }: Services): void {
  app.post(
    `${path}/copy`,
    call({
      operationId: "copyAlertRule",
      record: true,
      tag: "Alerts",
      summary: "Copy an alert rule to other devices",
      description: `The new rule is the same but for what it watches. ${rights}`,
      permission: "write",
      input: { params: AlertRulePath, body: CopyRequest },
      ok: { 201: AlertRuleAnswer },
      invalid: "invalidInput",
      errors: ["alertRuleNotFound", "alertRuleLimit", "deviceRuleLimit", "webhookLimit", "storageLimit"],
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      const { rule, warnings } = await alertRules.copy(caller.user, request.params.ruleId, request.body);
      reply.code(201).header("location", `/api/alertRules/${encodeURIComponent(rule.id)}`);
      return answer(caller, rule, warnings);
    },
  );
}
