import type { FastifyInstance } from "fastify";
import { AlertRulePath } from "../../contract/alert-rule.ts";
import { DevicePath, DoneAnswer } from "../../contract/device.ts";
import { MuteAnswer, MuteRequest, MutesAnswer } from "../../contract/mute.ts";
import { PageQuery } from "../../contract/page.ts";
import { unknownTerms } from "../../domain/bodies.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import { pageAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

const kinds = {
  device: {
    path: "/api/devices/:deviceId/mute",
    params: DevicePath,
    name: "Device",
    what: "a device",
    unknown: "deviceNotFound",
  },
  rule: {
    path: "/api/alertRules/:ruleId/mute",
    params: AlertRulePath,
    name: "AlertRule",
    what: "an alert rule",
    unknown: "alertRuleNotFound",
  },
} as const;
const held =
  "Rules still raise alerts, the service stores them, and commands go out. A notice that is due during the mute is `suppressed`, with a `reason` that names the mute.";

/** GET, PUT and DELETE of the mute of a device and of a rule, and GET /api/mutes. */
export function mutesRoutes(app: App, plain: FastifyInstance, services: Services): void {
  for (const kind of ["device", "rule"] as const) {
    readRoute(app, kind, services);
    setRoute(app, kind, services);
    removeRoute(app, kind, services);
  }
  const { mutes } = services;
  plain.get<{ Querystring: PageQuery }>(
    "/api/mutes",
    call({
      operationId: "listMutes",
      tag: "Alerts",
      summary: "List what is muted",
      description: "The mutes in force of all devices and rules that the user sees.",
      permission: "see",
      input: { querystring: PageQuery },
      ok: { 200: MutesAnswer },
    }),
    async (request, reply) => {
      const { user } = callerOf(request);
      return pageAnswer(request, reply, services, request.query, {
        name: "mutes",
        scope: ["mutes", user.accountKey],
        read: (ask) => mutes.page(user, ask),
        text: JSON.stringify,
        place: Number,
      });
    },
  );
}

function readRoute(app: App, kind: keyof typeof kinds, { mutes }: Services): void {
  const { path, params, name, what, unknown } = kinds[kind];
  app.get(
    path,
    call({
      operationId: `read${name}Mute`,
      tag: "Alerts",
      summary: `Read whether ${what} is muted`,
      permission: "see",
      input: { params },
      ok: { 200: MuteAnswer },
      errors: [unknown],
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, { mute: await mutes.find(caller.user, request.params) });
    },
  );
}

function setRoute(app: App, kind: keyof typeof kinds, { mutes }: Services): void {
  const { path, params, name, what, unknown } = kinds[kind];
  app.put(
    path,
    call({
      operationId: `mute${name}`,
      tag: "Alerts",
      summary: `Mute ${what} for a time`,
      description: `Replaces an earlier mute. ${held}`,
      permission: "write",
      input: { params, body: MuteRequest },
      ok: { 200: MuteAnswer },
      errors: [unknown],
    }),
    async (request) => {
      const caller = callerOf(request);
      const mute = await mutes.set(caller.user, request.params, request.body);
      return answer(caller, { mute }, unknownTerms(request.body, MuteRequest.properties));
    },
  );
}

function removeRoute(app: App, kind: keyof typeof kinds, { mutes }: Services): void {
  const { path, params, name, what, unknown } = kinds[kind];
  app.delete(
    path,
    call({
      operationId: `unmute${name}`,
      tag: "Alerts",
      summary: `End the mute of ${what}`,
      description:
        "Succeeds even if there is no mute. Notices that the mute suppressed stay so; they can be sent again by hand.",
      permission: "write",
      input: { params },
      ok: { 200: DoneAnswer },
      errors: [unknown, "unsupportedMediaType"],
    }),
    async (request) => {
      const caller = callerOf(request);
      await mutes.remove(caller.user, request.params);
      return answer(caller, {});
    },
  );
}
