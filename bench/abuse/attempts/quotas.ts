import type { Attempt, Scene } from "../attempt.ts";
import { many, Tally } from "../tally.ts";

/** Makes things of one kind until a quota ends it, or the limit of requests, or the time. */
function endless(name: string, what: string, path: string, body: (index: number) => object): Attempt {
  return {
    name,
    tries: `${what} made one after the other until something ends it`,
    holds: "they are made, or refused with 409 or 429",
    async run({ attacker, goesOn, scale, must }: Scene) {
      const statuses = new Tally();
      await many(scale(20_000, 200), 16, goesOn, async (index) => {
        statuses.add((await attacker.client.ask("POST", path, body(index))).status);
      });
      must(statuses.besides(201, 409, 429).length === 0, `they are made or refused: ${statuses}`);
      return { times: statuses.total, happened: String(statuses) };
    },
  };
}

const stamp = Date.now();
const ring = Array.from({ length: 500 }, (_, at) => {
  const angle = ((at % 499) / 499) * 2 * Math.PI;
  return [11 + Math.cos(angle), 48 + Math.sin(angle)];
});

export const manyDevices = endless("quota-devices", "devices", "/api/devices", (index) => ({
  id: `quota-${stamp}-${index}`,
}));
export const manyUsers = endless("quota-users", "users", "/api/users", (index) => {
  const email = `quota-${stamp}-${index}@example.com`;
  return { name: email, email, country: "CO", timeZone: "America/Bogota", description: "x".repeat(4000) };
});
export const manyGeofences = endless("quota-geofences", "geofences of 500 corners", "/api/geofences", (index) => ({
  name: `Zone ${index}`,
  geometry: { type: "Polygon", coordinates: [ring] },
}));
