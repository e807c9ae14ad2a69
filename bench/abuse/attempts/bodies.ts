import type { Attempt, Scene } from "../attempt.ts";
import { Tally } from "../tally.ts";

const most = 1_048_000;

/** Sends bodies at the limit of a request's size, four at a time. */
function bodies(name: string, tries: string, method: string, path: (id: string) => string, body: string): Attempt {
  return {
    name,
    tries,
    holds: "they are refused with 400 or 429, and nothing of them is kept",
    async run(scene: Scene) {
      const [id = ""] = await scene.devices(1);
      const statuses = new Tally();
      scene.prepared();
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          do statuses.add((await scene.attacker.client.ask(method, path(id), body)).status);
          while (scene.goesOn());
        }),
      );
      scene.must(statuses.besides(400, 409, 429).length === 0, `they are refused: ${statuses}`);
      return { times: statuses.total, happened: String(statuses) };
    },
  };
}

const operations = Array.from({ length: 20_000 }, (_, index) => ({ op: "add", path: `/tags/t${index}`, value: "x" }));
const copies = Array.from({ length: 20_000 }, () => ({ op: "copy", from: "/tags", path: "/tags/a" }));

export const deepBody = bodies(
  "body-deep",
  "JSON of 1 MiB that is nothing but nesting",
  "POST",
  () => "/api/devices",
  "[".repeat(most / 2) + "]".repeat(most / 2),
);
export const deepObject = bodies(
  "body-deep-objects",
  "objects in objects in a field that takes any",
  "POST",
  () => "/api/geofences",
  `{"name":"x","geometry":${'{"a":'.repeat(150_000)}1${"}".repeat(150_000)}}`,
);
export const longPatch = bodies(
  "patch-long",
  "a patch of 20,000 operations, which 1 MiB has room for",
  "PATCH",
  (id) => `/api/devices/${id}`,
  JSON.stringify(operations),
);
export const growingPatch = bodies(
  "patch-growing",
  "a patch that copies what it has made into itself, again and again",
  "PATCH",
  (id) => `/api/devices/${id}`,
  JSON.stringify(copies),
);
export const hardTexts = bodies(
  "texts-hard",
  "texts that patterns run long over: ids, phone numbers, e-mail addresses, times",
  "POST",
  () => "/api/users",
  JSON.stringify({
    name: "x",
    email: `${"a.".repeat(200_000)}@${"a-".repeat(100_000)}`,
    country: "C".repeat(100_000),
    timeZone: "A/".repeat(50),
    from: `2026-01-01T00:00:00.${"0".repeat(100_000)}!`,
  }),
);
