import { setTimeout as delay } from "node:timers/promises";
import type { Attempt } from "../attempt.ts";
import { Tally } from "../tally.ts";

const corners = 9000;
const zones = 20;
/** Between two requests, ms: seven a second. */
const pauseMs = 1000 / 7;

/** A star around a place: a ring of so many corners that crosses itself nowhere. */
function zoneOf(index: number) {
  const ring = Array.from({ length: corners }, (_, corner) => {
    const angle = (2 * Math.PI * corner) / corners;
    const radius = corner % 2 === 0 ? 0.1 : 0.09;
    return [-74 + index / 10 + radius * Math.cos(angle), 4.7 + radius * Math.sin(angle)];
  });
  return { name: `Z${index}`, geometry: { type: "Polygon", coordinates: [[...ring, ring[0]]] } };
}

/** Zones whose rings cost more than the requests that bring them. */
export const largeZones: Attempt = {
  name: "large-zones",
  tries: `${zones} zones of ${corners} corners, and one client that lists or replaces them seven times a second`,
  holds: "they are answered or refused",
  async run({ attacker, goesOn, prepared, scale, must }) {
    const ids: string[] = [];
    for (let index = 0; index < scale(zones, 2); index++)
      ids.push(String((await attacker.client.take("POST", "/api/geofences", zoneOf(index))).id));
    prepared();
    const statuses = new Tally();
    const asked: Promise<unknown>[] = [];
    for (let turn = 0; goesOn(); turn++) {
      const id = ids[turn % ids.length];
      const answer =
        turn % 2 === 0
          ? attacker.client.ask("GET", "/api/geofences")
          : attacker.client.ask("PUT", `/api/geofences/${id}`, zoneOf(turn));
      asked.push(answer.then(({ status }) => statuses.add(status)));
      await delay(pauseMs);
    }
    await Promise.all(asked);
    must(statuses.besides(200, 429, 503).length === 0, `they are answered or refused: ${statuses}`);
    return { times: statuses.total, happened: String(statuses) };
  },
};
