import type { FastifyInstance } from "fastify";
import { DoneAnswer } from "../../contract/device.ts";
import { PageQuery } from "../../contract/page.ts";
import { ShareMadeAnswer, SharePath, ShareRequest, SharesAnswer } from "../../contract/share.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import { pageAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

const path = "/api/shares";

/** POST and GET /api/shares, DELETE /api/shares/{shareId}: links by which anybody may see where devices are. */
export function sharesRoutes(app: App, plain: FastifyInstance, services: Services): void {
  const { shares } = services;
  app.post(
    path,
    call({
      operationId: "createShare",
      tag: "Devices",
      summary: "Make a link to a device or group",
      description:
        "Whoever has the link sees the name and the place of the device, or of the group's devices, and nothing else, until it ends. It shows what its maker sees: it ends with the maker's right, the maker, or the device.",
      permission: "see",
      input: { body: ShareRequest },
      ok: { 201: ShareMadeAnswer },
      errors: ["deviceNotFound", "groupNotFound", "shareLimit"],
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      const { share, token, warnings } = await shares.create(caller.user, request.body);
      reply.code(201).header("location", `${path}/${share.id}`);
      return answer(caller, { share, token, path: `/s#${token}` }, warnings);
    },
  );
  plain.get<{ Querystring: PageQuery }>(
    path,
    call({
      operationId: "listShares",
      tag: "Devices",
      summary: "List links that have not ended",
      description: "One's own; with `admin` those of the account. The newest first.",
      permission: "see",
      input: { querystring: PageQuery },
      ok: { 200: SharesAnswer },
    }),
    async (request, reply) => {
      const { user } = callerOf(request);
      return pageAnswer(request, reply, services, request.query, {
        name: "shares",
        scope: ["shares", user.key],
        read: (ask) => shares.page(user, ask),
        text: JSON.stringify,
        place: Number,
      });
    },
  );
  app.delete(
    `${path}/:shareId`,
    call({
      operationId: "deleteShare",
      tag: "Devices",
      summary: "End a link at once",
      permission: "see",
      input: { params: SharePath },
      ok: { 200: DoneAnswer },
      errors: ["shareNotFound", "unsupportedMediaType"],
    }),
    async (request) => {
      const caller = callerOf(request);
      await shares.end(caller.user, request.params.shareId);
      return answer(caller, {});
    },
  );
}
