import assert from "node:assert/strict";
import type { OwnersRest } from "./rest.ts";

/** A rule for the device `a`. */
export const speedRule = { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["a"] };

/** Calls that make and delete rules. `world`: the service, once it has started. */
export function ruleCalls(world: () => OwnersRest) {
  const post = (body: object, as = world().token) => world().rest.call("POST", "/api/alertRules", { token: as, body });
  return {
    post,
    /** Creates a rule like `speedRule`. */
    async create(fields: object = {}) {
      const answer = await post({ ...speedRule, ...fields });
      assert.equal(answer.status, 201, answer.body);
      return answer.json;
    },
    async remove(id: string) {
      const { rest, token } = world();
      assert.equal((await rest.call("DELETE", `/api/alertRules/${id}`, { token })).status, 200);
    },
  };
}
