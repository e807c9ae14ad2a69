import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import { version } from "../../src/model/version.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

interface Holder {
  readonly $ref?: string;
  readonly content?: Readonly<
    Record<string, { readonly schema: { readonly $ref?: string }; readonly example?: unknown }>
  >;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly $ref?: string }[];
  readonly requestBody?: Holder;
  readonly responses: Readonly<Record<string, Holder>>;
}
interface ApiDocument {
  readonly info: { readonly license: object; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, object>> }>>;
  };
}

let rest: Rest;
let document: ApiDocument;
before(async () => {
  rest = await startRest();
  document = rest.http.openApi() as ApiDocument;
});
after(() => endRest(rest));

test("the document says each failure, body, answer and parameter once, and refers to it", () => {
  const apiCalls = Object.entries(document.paths).filter(([path]) => !path.startsWith("/health/"));
  for (const operation of apiCalls.flatMap(([, item]) => Object.values(item))) {
    const { operationId, parameters = [], requestBody, responses } = operation;
    for (const parameter of parameters) assert.ok(parameter.$ref !== undefined, operationId);
    for (const [code, response] of Object.entries(responses)) {
      assert.equal(response.$ref !== undefined, Number(code) >= 400, `${operationId} ${code}`);
      for (const { schema } of Object.values(response.content ?? {}))
        assert.ok(schema.$ref !== undefined, `${operationId} ${code}`);
    }
    for (const { schema } of Object.values(requestBody?.content ?? {}))
      assert.ok(schema.$ref !== undefined, operationId);
  }
});

test("each answer of the document has an example, which its schema admits", () => {
  const validators = new Ajv2020({ strict: false, formats: { "date-time": true } });
  validators.addSchema({ ...document, $id: "api" });
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item)))
    for (const [code, { content = {} }] of Object.entries(operation.responses))
      for (const { schema, example } of Object.values(content)) {
        const what = `${operation.operationId} ${code}`;
        assert.ok(example !== undefined, what);
        if (schema.$ref === undefined) continue;
        const validate = validators.getSchema(`api${schema.$ref}`);
        assert.ok(validate?.(example), `${what}: ${validators.errorsText(validate?.errors)}`);
      }
});

test("the attributes of locations and readings are described once, with what the catalogue of readings says", () => {
  const { Attributes, Location, Reading } = document.components.schemas;
  for (const schema of [Location, Reading])
    assert.deepEqual(schema?.properties?.attributes, { $ref: "#/components/schemas/Attributes" });
  const { odometer, charging, vin, battery } = Attributes?.properties ?? {};
  assert.deepEqual(odometer, { type: "string", description: "Odometer that the tracker reports, km." });
  assert.deepEqual(charging, { type: "string", description: "Tracker's battery is being charged: true or false." });
  assert.deepEqual(vin, { type: "string", description: "Vehicle identification number." });
  // It has a field of its own.
  assert.equal(battery, undefined);
});

test("the document names its licence and its server, and describes all tags", () => {
  assert.deepEqual(document.info.license, { name: "Apache 2.0", identifier: "Apache-2.0" });
  assert.deepEqual(
    document.servers.map(({ url }) => url),
    ["/"],
  );
  const described = new Set(document.tags.flatMap(({ name, description = "" }) => (description === "" ? [] : [name])));
  for (const item of Object.values(document.paths))
    for (const { operationId, tags } of Object.values(item))
      assert.ok(tags.length === 1 && described.has(tags[0] ?? ""), operationId);
});

test("the document and the parts of its page come compressed to who takes that", async () => {
  for (const url of ["/openapi.json", "/docs/static/swagger-ui-bundle.js"]) {
    const get = (accepted: string) =>
      rest.http.inject({ method: "GET", url, headers: { "accept-encoding": accepted } });
    const plain = await get("identity");
    assert.deepEqual([plain.headers["content-encoding"], plain.headers.vary], [undefined, "accept-encoding"]);
    for (const [coding, read] of [
      ["gzip", gunzipSync],
      ["br", brotliDecompressSync],
    ] as const) {
      const coded = await get(coding);
      assert.equal(coded.headers["content-encoding"], coding);
      assert.ok(coded.rawPayload.length * 3 < plain.rawPayload.length, `${url} ${coding}`);
      assert.deepEqual(read(coded.rawPayload), plain.rawPayload);
    }
  }
});

test("the program, the document and the changelog have one version", () => {
  const changes = readFileSync(join(import.meta.dirname, "../../CHANGELOG.md"), "utf8");
  assert.deepEqual([/^## (\S+)/m.exec(changes)?.[1], document.info.version], [version, version]);
});
