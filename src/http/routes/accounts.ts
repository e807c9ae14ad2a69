import type { FastifyInstance } from "fastify";
import {
  AccountPath,
  AccountReplacement,
  AccountsAnswer,
  AccountViewAnswer,
  NewAccount,
  NewAccountAnswer,
  OwnerKeyAnswer,
} from "../../contract/admin.ts";
import { PageQuery } from "../../contract/page.ts";
import { PatchRequest } from "../../contract/patch.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { checkerOf } from "../check.ts";
import { serviceAnswer } from "../envelope.ts";
import { pageAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

const path = "/api/admin/accounts/:accountId";

/**
 * The operator's calls: GET and POST /api/admin/accounts, GET, PUT and PATCH /api/admin/accounts/{accountId}, and its
 * owner's key.
 */
export function accountsRoutes(app: App, plain: FastifyInstance, services: Services): void {
  listRoute(plain, services);
  createRoute(app, services);
  readRoute(app, services);
  replaceRoute(app, services);
  patchRoute(app, services);
  ownerKeyRoute(app, services);
}

function listRoute(app: FastifyInstance, services: Services): void {
  const { tenants } = services;
  app.get<{ Querystring: PageQuery }>(
    "/api/admin/accounts",
    call({
      operationId: "listAccounts",
      tag: "Operation",
      summary: "List the accounts",
      description: "All of the service's accounts, in the order of their making.",
      permission: "operator",
      input: { querystring: PageQuery },
      ok: { 200: AccountsAnswer },
    }),
    async (request, reply) =>
      pageAnswer(request, reply, services, request.query, {
        name: "accounts",
        scope: ["accounts"],
        read: (ask) => tenants.page(ask),
        text: JSON.stringify,
        place: Number,
      }),
  );
}

function createRoute(app: App, { tenants }: Services): void {
  app.post(
    "/api/admin/accounts",
    call({
      operationId: "createAccount",
      tag: "Operation",
      summary: "Make an account and its owner",
      description: "The answer holds the owner's API key, which is not shown again.",
      permission: "operator",
      input: { body: NewAccount },
      ok: { 201: NewAccountAnswer },
      invalid: "invalidInput",
      errors: ["invalidEmail", "emailInUse"],
    }),
    async (request, reply) => {
      const { account, owner, warnings } = await tenants.create(request.body);
      reply.code(201).header("location", `/api/admin/accounts/${account.id}`);
      return serviceAnswer(request.caller, { account, owner }, warnings);
    },
  );
}

function readRoute(app: App, { tenants }: Services): void {
  app.get(
    path,
    call({
      operationId: "readAccountById",
      tag: "Operation",
      summary: "Read an account",
      permission: "operator",
      input: { params: AccountPath },
      ok: { 200: AccountViewAnswer },
      errors: ["accountNotFound"],
    }),
    async (request) => serviceAnswer(request.caller, { account: await tenants.read(request.params.accountId) }),
  );
}

function replaceRoute(app: App, { tenants }: Services): void {
  app.put(
    path,
    call({
      operationId: "replaceAccount",
      tag: "Operation",
      summary: "Replace an account's fields",
      permission: "operator",
      input: { params: AccountPath, body: AccountReplacement },
      ok: { 200: AccountViewAnswer },
      invalid: "invalidInput",
      errors: ["accountNotFound"],
    }),
    async ({ caller, params, body }) => {
      const { account, warnings } = await tenants.replace(params.accountId, body);
      return serviceAnswer(caller, { account }, warnings);
    },
  );
}

function patchRoute(app: App, { tenants }: Services): void {
  app.patch(
    path,
    call({
      operationId: "patchAccount",
      tag: "Operation",
      summary: "Change some of an account's fields",
      description:
        "A JSON Patch (RFC 6902) of `name`, `timeZone`, `language`, `licenses`, `positionDays`, the caps (numbers, as in the body of a PUT) and `unconfirmedRecipients`, all of it or nothing.",
      permission: "operator",
      input: { params: AccountPath, body: PatchRequest },
      ok: { 200: AccountViewAnswer },
      invalid: "invalidPatch",
      errors: ["accountNotFound", "invalidInput", "patchTestFailed"],
    }),
    async (request) => {
      const check = checkerOf(request, AccountReplacement, "invalidInput");
      const { account, warnings } = await tenants.patch(request.params.accountId, request.body, check);
      return serviceAnswer(request.caller, { account }, warnings);
    },
  );
}

function ownerKeyRoute(app: App, { tenants }: Services): void {
  app.post(
    `${path}/ownerApiKey`,
    call({
      operationId: "createOwnerApiKey",
      tag: "Operation",
      summary: "Make the API key of an account's owner",
      description:
        "For an owner who lost it or whose key others saw: nobody else of the account can make one. The key before it and its tokens end at once, which the owner is told by e-mail.",
      permission: "operator",
      input: { params: AccountPath },
      ok: { 201: OwnerKeyAnswer },
      errors: ["accountNotFound", "unsupportedMediaType"],
    }),
    async ({ caller, params }, reply) => {
      const owner = await tenants.makeOwnerKey(params.accountId);
      reply.code(201).header("location", `/api/users/${encodeURIComponent(owner.id)}/apiKey`);
      return serviceAnswer(caller, { owner });
    },
  );
}
