import type { FastifyReply, FastifyRequest } from "fastify";
import { abilitiesOf, inactivity } from "../../auth/permission.ts";
import { browserMark, csrfOf, isSame } from "../../auth/session-token.ts";
import { DoneAnswer } from "../../contract/device.ts";
import {
  FirstPasswordRequest,
  PresentSessionAnswer,
  SessionAnswer,
  type SessionView,
  SignInRequest,
  SignInsAnswer,
  type SignInView,
} from "../../contract/session.ts";
import { formatInstant } from "../../contract/time.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import type { SignIn } from "../../model/sign-in.ts";
import { requesterOf } from "../address.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import type { BrowserSession, Caller } from "../caller.ts";
import { browserMarkIn, clearSession, sessionToken, setSession } from "../cookies.ts";
import { answer, callerOf, serviceAnswer } from "../envelope.ts";
import { refuseForeign } from "../forgery.ts";
import type { Services } from "../services.ts";
import type { SignInLimits } from "../sign-in-limits.ts";

const path = "/api/session";

/** POST, GET and DELETE /api/session, the sign-ins of a person, and the owner's first password. */
export function sessionRoutes(app: App, services: Services, tries: SignInLimits): void {
  signInRoute(app, services, tries);
  firstPasswordRoute(app, services, tries);
  readRoute(app, services);
  signOutRoute(app, services);
  signInsRoutes(app, services);
}

function signInRoute(app: App, services: Services, tries: SignInLimits): void {
  const { signInCheck, browserKey, clock } = services;
  app.post(
    path,
    {
      ...call({
        operationId: "signIn",
        tag: "Authentication",
        summary: "Sign in with a browser",
        description:
          "For people: sets a cookie (HttpOnly, SameSite=Lax; `__Host-waybeam` by HTTPS, else `waybeam`), which every call takes in place of a token. A wrong password and an unknown e-mail address have the same answer. Programs take tokens.",
        permission: "public",
        input: { body: SignInRequest },
        ok: { 200: SessionAnswer },
        errors: [
          ...(["wrongSignIn", "secondFactorNeeded", "permissionDenied", "userDisabled", "userExpired"] as const),
          "tooManyRequests",
        ],
      }),
      onRequest: ofStranger(tries),
    },
    async (request, reply) => {
      const { email } = request.body;
      const marked = isSame(browserMarkIn(request) ?? "", browserMark(browserKey, email));
      const counted = tries.countTry(email, marked, request);
      const user = await signInCheck.password(request.body, requesterOf(request), marked);
      counted.right();
      const refusal = inactivity(user, clock.now());
      if (refusal !== undefined) throw refusal;
      const code = request.body.code ? tries.countCode(user.key, marked ? "marked" : "unmarked", request) : undefined;
      await signInCheck.code(user, request.body);
      code?.right();
      return signedIn(services, user, request, reply);
    },
  );
}

/** Before the body is looked at, so that malformed requests count too. */
function ofStranger(tries: SignInLimits) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    refuseForeign(request);
    tries.countAddress(request, reply);
  };
}

function firstPasswordRoute(app: App, services: Services, tries: SignInLimits): void {
  app.post(
    `${path}/first`,
    {
      ...call({
        operationId: "setFirstPassword",
        tag: "Authentication",
        summary: "Set the first password of the service's owner",
        description:
          "By the link that the first start prints. It is good until the owner has a password, so once. Signs in as POST /api/session does.",
        permission: "public",
        input: { body: FirstPasswordRequest },
        ok: { 200: SessionAnswer },
        errors: ["linkNotValid", "invalidInput", "permissionDenied", "tooManyRequests"],
      }),
      onRequest: ofStranger(tries),
    },
    async (request, reply) => {
      const { token, password } = request.body;
      return signedIn(services, await services.people.setFirstPassword(token, password), request, reply);
    },
  );
}

/** Begins a session, in place of the one that the browser had. */
async function signedIn(services: Services, user: User, request: FastifyRequest, reply: FastifyReply) {
  const { signIns, browserKey, limits, usage, clock, store, log } = services;
  const now = clock.now();
  const before = await signIns.find(sessionToken(request) ?? "");
  if (before !== undefined) await signIns.end(before.userKey, { only: before.key });
  const place = { address: request.ip ?? "", browser: request.headers["user-agent"] ?? "" };
  const { token, signIn } = await signIns.begin(user, place);
  await store.users.setLastLogin(user.key, now);
  log.info({ user: user.id, address: place.address }, "signed in");
  const entry = await usage.requests.entry(user.key, now);
  usage.requests.add(entry, 1);
  const session = { signIn, csrf: csrfOf(token) };
  const caller = { user, apiUsage: entry.total, apiDailyUsage: entry.daily, session };
  request.caller = caller;
  const mark = browserMark(browserKey, user.email);
  setSession(request, reply, { token, mark, seconds: limits.sessions.longestSeconds });
  return answer(caller, { session: await viewOf(services, user, session) });
}

async function viewOf(
  { store, secondFactors, serviceAccount }: Services,
  user: User,
  { signIn, csrf }: BrowserSession,
): Promise<SessionView> {
  const account = await store.accounts.find(user.accountKey);
  if (account === undefined) throw new ApiError("invalidToken");
  const [expires, secondFactor] = [formatInstant(signIn.expires), await secondFactors.has(user.key)];
  const may = [...abilitiesOf(user, serviceAccount)];
  return { userId: user.id, account: account.id, email: user.email, csrf, expires, secondFactor, may };
}

/** Who came by the cookie. Only for routes of the permission `person`: the gate has let it in. */
export function personOf(request: FastifyRequest): Caller & { readonly session: BrowserSession } {
  const { session, ...caller } = callerOf(request);
  if (session === undefined) throw new ApiError("permissionDenied");
  return { ...caller, session };
}

function readRoute(app: App, services: Services): void {
  app.get(
    path,
    call({
      operationId: "readSession",
      tag: "Authentication",
      summary: "Read who is signed in",
      description: "By the cookie only. A page asks before it knows, so nobody is an answer too, and no failure.",
      permission: "anyone",
      input: {},
      ok: { 200: PresentSessionAnswer },
    }),
    async ({ caller }) => {
      const session = caller?.session && (await viewOf(services, caller.user, caller.session));
      return serviceAnswer(caller, { session: session ?? null });
    },
  );
}

function signOutRoute(app: App, { signIns }: Services): void {
  app.delete(
    path,
    call({
      operationId: "signOut",
      tag: "Authentication",
      summary: "Sign out",
      permission: "person",
      input: {},
      ok: { 200: DoneAnswer },
      errors: ["unsupportedMediaType"],
    }),
    async (request, reply) => {
      const caller = personOf(request);
      await signIns.end(caller.user.key, { only: caller.session.signIn.key });
      clearSession(request, reply);
      return answer(caller, {});
    },
  );
}

function signInsRoutes(app: App, { signIns }: Services): void {
  app.get(
    `${path}/sign-ins`,
    call({
      operationId: "listSignIns",
      tag: "Authentication",
      summary: "List where the user is signed in",
      permission: "person",
      input: {},
      ok: { 200: SignInsAnswer },
    }),
    async (request) => {
      const caller = personOf(request);
      const list = await signIns.list(caller.user.key);
      return answer(caller, { signIns: list.map((each) => signInView(each, caller.session.signIn.key)) });
    },
  );

  app.delete(
    `${path}/sign-ins`,
    call({
      operationId: "signOutEverywhere",
      tag: "Authentication",
      summary: "Sign out everywhere",
      description: "Ends all sessions of the user at once, the one of this request too.",
      permission: "person",
      input: {},
      ok: { 200: DoneAnswer },
      errors: ["unsupportedMediaType"],
    }),
    async (request, reply) => {
      const caller = personOf(request);
      await signIns.end(caller.user.key, "all");
      clearSession(request, reply);
      return answer(caller, {});
    },
  );
}

function signInView({ key, creation, seen, address, browser }: SignIn, current: number): SignInView {
  return { time: formatInstant(creation), lastUse: formatInstant(seen), address, browser, current: key === current };
}
