import assert from "node:assert/strict";
import { test } from "node:test";
import { serializersAtFirstUse } from "./serializer.ts";

const device = { $id: "Device", type: "object", properties: { id: { type: "string" } } };
const list = { type: "object", properties: { devices: { type: "array", items: { $ref: "Device#" } } } };
const answer = { id: "a", secret: 1 };

/** The serialisers of two answers that share a schema, neither used yet. */
function serializers() {
  const compile = serializersAtFirstUse({ Device: device }, {});
  const route = { method: "GET", url: "/", httpStatus: "200" };
  return { one: compile({ ...route, schema: device }), many: compile({ ...route, schema: list }) };
}

test("answers have what their schema names, whichever is given first", () => {
  const { one, many } = serializers();
  assert.equal(one(answer), '{"id":"a"}');
  assert.equal(many({ devices: [answer] }), '{"devices":[{"id":"a"}]}');
  const other = serializers();
  assert.equal(other.many({ devices: [answer] }), '{"devices":[{"id":"a"}]}');
  assert.equal(other.one(answer), '{"id":"a"}');
  assert.equal(other.one(answer), '{"id":"a"}');
});

test("nothing is compiled before it is used", () => {
  const compile = serializersAtFirstUse({}, {});
  const serialize = compile({ method: "GET", url: "/", httpStatus: "200", schema: { type: "none of them" } });
  assert.throws(() => serialize(answer));
});
