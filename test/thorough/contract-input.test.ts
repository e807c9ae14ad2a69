import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { parseInstant } from "../../src/contract/time.ts";
import { defaultLimits } from "../../src/http/limits.ts";
import { admittedBy } from "../support/admitted-values.ts";
import { inlined } from "../support/openapi.ts";
import { endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";
import { damaged, type Schema } from "../support/schema-values.ts";
import { passwordHash, signIn } from "../support/sessions.ts";

interface Operation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly example?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schema } } };
}
interface Call extends Operation {
  readonly method: string;
  readonly path: string;
}

/**
 * What a schema can't say: the details of such refusals, and why. The document tells each in a description. Everything
 * else that a schema admits is accepted.
 */
const exceptions: readonly (readonly [detail: RegExp, reason: string])[] = [
  [/cursor: must be the nextCursor/, "a cursor refers to an answer"],
  [/body\/(to|expires): must not be before body\/from/, "compares two fields"],
  [/querystring\/to: must not be before querystring\/from/, "compares two fields"],
  [/querystring\/box: (longitudes|latitudes|south) must/, "compares numbers within a text"],
  [
    /^body(\/rule|\/rules\/\d+)?\/(devices|groups|channels\/\w+).*(twice|no device|no group|must be this device)/,
    "refers, or compares items",
  ],
  [/^body(\/rule|\/rules\/\d+)?\/(parameters|conditions).*(geofence|zone)/, "refers to a geofence"],
  [/\/id: (is no rule that watches this device alone|stands in another rule already)/, "refers to a rule"],
  [
    /value of \w+ must be from|it is never|it is neither greater nor less|value must be a finite/,
    "depends on the attribute",
  ],
  [/holdSeconds: must be less than .* of the schedule's longest period/, "compares two fields"],
  [/happens at a moment and does not last|has no threshold|the threshold, /, "depends on the type and its parameters"],
  [/must have either \w+ or litres$/, "one of two parameters"],
  [/there is no placeholder/, "the list of placeholders is in the guide"],
  [/url: its address is (private|for the metadata)/, "is judged by the configuration"],
  [/secret: is required for a new URL|token: is required for a new chat/, "depends on what is stored"],
  [/template: must be (JSON|a JSON object)|is a placeholder of the SMS gateway/, "is JSON within a text"],
  [
    /geometry\/.*(opposite|pole|closed|different (corners|positions)|turn|crosses|touches|hole|around the earth)/,
    "geometry of a ring",
  ],
  [/body\/(until|expires): must be (in the future|at most 30 days ahead)/, "is compared with the clock"],
  [/geometry\/.*10000 positions/, "counts the positions of all rings"],
  [
    /must be (a country's ISO code|an ISO 3166-1 alpha-2|an IANA (time zone|name))/,
    "stands in a list that a call gives",
  ],
  [/body\/password: /, "a compact JWE for another key"],
  [/presentSecret/, "is compared with what is stored"],
];

let rest: Rest;
let owner: string;
const ids: Record<string, string> = { deviceId: "fuzzed" };
const sessions = { ...defaultLimits.sessions, triesPerMinute: 1e9 };
const limits = {
  requestsPerMinute: 1e9,
  tokenRequestsPerMinute: 1e9,
  dailyResults: 1e9,
  badTokensPerMinute: 1e9,
  sessions,
};
/** What a browser sends in which somebody has signed in. */
let browser: Readonly<Record<string, string>>;

before(async () => {
  rest = await startRest({ limits });
  owner = await rest.ownerToken();
  const ask = async (url: string, body: object) => (await rest.call("POST", url, { token: owner, body })).json;
  await ask("/api/devices", { id: "fuzzed" });
  ids.groupId = (await ask("/api/groups", { name: "G" })).id;
  const geometry = { type: "Point", coordinates: [-74, 4.7], radius: 0.5 };
  ids.geofenceId = (await ask("/api/geofences", { name: "Z", geometry })).id;
  const rule = { name: "R", type: "speedOver", parameters: { kmh: 80 }, groups: [ids.groupId] };
  ids.ruleId = (await ask("/api/alertRules", rule)).id;
  const person = { name: "A", email: "contract@example.com", country: "CO", timeZone: "America/Bogota" };
  ids.userId = (await ask("/api/users", person)).id;
  const password = "correct horse battery";
  await rest.userToken({
    email: "browser@example.com",
    passwordHash: await passwordHash(password),
    passwordSignsIn: true,
  });
  browser = await signIn(rest, "browser@example.com", password);
  ids.accountId = (await rest.call("GET", "/api/admin/accounts", { token: operatorKey })).json.accounts[0].id;
});
after(() => endRest(rest));

/**
 * Calls with a body or a query, but for patches: what these are to be depends on the record (their results are checked
 * as the bodies here).
 */
function calls(): readonly Call[] {
  const { paths } = inlined(rest.http.openApi()) as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== "patch" && method !== "delete")
      .map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() }))
      // It would take the device away from the other calls.
      .filter(({ operationId }) => operationId !== "changeDeviceId"),
  );
}

function bodyOf({ requestBody }: Call): Schema | undefined {
  return requestBody?.content["application/json"].schema;
}

/** The document, so that references are found. */
function components(): Readonly<Record<string, Schema>> {
  return (rest.http.openApi() as { components: { schemas: Record<string, Schema> } }).components.schemas;
}

async function send({ method, path, security = [] }: Call, body: unknown, query = "") {
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "unknown") + query;
  const takes = (name: string) => security.some((scheme) => name in scheme);
  const who = takes("bearer") ? { token: owner } : takes("cookie") ? { headers: browser } : { token: operatorKey };
  return rest.call(method, url, { ...who, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
}

test("what a body's schema admits is not refused for its form, but for what the list of exceptions says", {
  timeout: 240_000,
}, async () => {
  for (const call of calls()) {
    const schema = bodyOf(call);
    if (schema === undefined) continue;
    const validate = validator(schema);
    const admitted = admittedBy(schema, components()).filter((value) => validate(value));
    await fc.assert(
      fc.asyncProperty(admitted, async (body) => {
        const { status, json } = await send(call, body);
        const details: readonly string[] = json.details ?? ["-"];
        const untold = details.filter((detail) => !exceptions.some(([known]) => known.test(detail)));
        const told = `${call.operationId} ${status} ${untold.join().slice(0, 600)} ${JSON.stringify(body).slice(0, 600)}`;
        assert.ok(![415, 500].includes(status) && (status !== 400 || untold.length === 0), told);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  }
  assert.deepEqual(rest.logged, []);
});

test("what a body's schema does not admit is refused with 400", { timeout: 240_000 }, async () => {
  for (const call of calls()) {
    const schema = bodyOf(call);
    if (schema === undefined) continue;
    const validate = validator(schema);
    const admitted = admittedBy(schema, components()).filter((value) => validate(value));
    const broken = damaged(admitted).filter((value) => !validate(JSON.parse(JSON.stringify(value))));
    await fc.assert(
      fc.asyncProperty(broken, async (body) => {
        const { status, json } = await send(call, body);
        // A trial first looks for the device that its body names. A wrong present secret is told first, and too many.
        const refused =
          status === 400 ||
          (status === 404 && call.operationId === "tryAlertRule") ||
          (status === 403 && String(json.details).startsWith("body/presentSecret: ")) ||
          (status === 429 && Object.hasOwn(Object(body), "presentSecret"));
        assert.ok(
          refused,
          `${call.operationId} ${JSON.stringify(json).slice(0, 600)} ${JSON.stringify(body).slice(0, 600)}`,
        );
      }),
      { numRuns: 5, endOnFailure: true },
    );
  }
});

test("what a query's schema admits is accepted, and each of its rules broken once is refused", {
  timeout: 120_000,
}, async () => {
  for (const call of calls().filter(({ method }) => method === "GET"))
    for (const { name, in: place, schema } of call.parameters ?? []) {
      if (place !== "query") continue;
      const validate = validator(schema);
      const others = (call.parameters ?? []).filter((one) => one.in === "query" && one.required && one.name !== name);
      const beside = others.map((one) => `&${one.name}=${encodeURIComponent(one.example ?? "")}`).join("");
      const value = fc.oneof(
        admittedBy(schema, components()),
        fc.string(),
        fc.constantFrom("", "0", "10001", "-1", "1e2"),
      );
      await fc.assert(
        fc.asyncProperty(
          value.filter((each) => typeof each === "string" && each.isWellFormed()),
          async (text) => {
            const { status, json } = await send(
              call,
              undefined,
              `?${name}=${encodeURIComponent(String(text))}${beside}`,
            );
            const details: readonly string[] = json?.details ?? [];
            const refers = details.every((detail) => exceptions.some(([known]) => known.test(detail)));
            const told = `${call.operationId} ${name}=${JSON.stringify(text)}: ${status} ${String(JSON.stringify(json)).slice(0, 300)}`;
            if (status === 404) return;
            const untold = status === 400 && details.length > 0 && refers;
            assert.ok(validate(text) ? status === 200 || untold : status === 400, told);
          },
        ),
        { numRuns: 15, endOnFailure: true },
      );
    }
  assert.deepEqual(rest.logged, []);
});

test("a patch of a field is taken where the body of a PUT with that value is, and no patch is a failure of the service", {
  timeout: 240_000,
}, async () => {
  const { paths } = inlined(rest.http.openApi()) as { paths: Record<string, Record<string, Operation>> };
  for (const [path, { patch, put }] of Object.entries(paths)) {
    if (patch === undefined || put === undefined) continue;
    const call: Call = { ...patch, path, method: "PATCH" };
    const schema = bodyOf({ ...put, path, method: "PUT" });
    assert.ok(schema !== undefined, path);
    const validate = validator(schema);
    const fields = admittedBy(schema, components()).filter((value) => validate(value));
    const replaced = fields.map((body) =>
      Object.entries(Object(body)).map(([name, value]) => ({ op: "add", path: `/${pointer(name)}`, value })),
    );
    const pointers = fc.constantFrom(
      "",
      "/",
      "/name",
      "/id",
      "/tags/a",
      "/devices/-",
      "/devices/0",
      "/tags/~2",
      "/__proto__/x",
    );
    const junk = fc.array(
      fc.record(
        {
          op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test", "other"),
          path: pointers,
          from: pointers,
          value: fc.jsonValue({ maxDepth: 3 }),
        },
        { requiredKeys: ["op", "path"] },
      ),
      { maxLength: 6 },
    );
    const told = (status: number, json: unknown, body: unknown) =>
      `${call.operationId} ${status} ${JSON.stringify(json).slice(0, 600)} ${JSON.stringify(body).slice(0, 600)}`;
    await fc.assert(
      fc.asyncProperty(replaced, async (body) => {
        const { status, json } = await send(call, body);
        const details: readonly string[] = json?.details ?? [];
        // A patch of a rule's type keeps the parameters of the type that it had.
        const sent = body.some(({ path: field }) => field === "/parameters");
        const kept = (detail: string) => !sent && detail.startsWith("body/parameters: ");
        // Fields that the schema does not name are none that a patch may set.
        const untold = details.filter(
          (detail) =>
            !/names no field|can't be changed/.test(detail) &&
            !exceptions.some(([known]) => known.test(detail)) &&
            !kept(detail),
        );
        assert.ok(![415, 500].includes(status) && (status !== 400 || untold.length === 0), told(status, json, body));
      }),
      { numRuns: 15, endOnFailure: true },
    );
    await fc.assert(
      fc.asyncProperty(junk, async (body) => {
        const { status, json } = await send(call, body);
        assert.ok([200, 400, 403, 404, 409].includes(status), told(status, json, body));
      }),
      { numRuns: 20, endOnFailure: true },
    );
  }
  assert.deepEqual(rest.logged, []);
});

function pointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

const ajv = new Ajv2020({ strict: false });
ajv.addFormat("date-time", (text: string) => parseInstant(text) !== undefined);

function validator(schema: Schema): (value: unknown) => boolean {
  const validate = ajv.compile({ ...schema, components: { schemas: components() } });
  return (value) => validate(value) === true;
}
