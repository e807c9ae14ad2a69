import type { Attempt } from "../attempt.ts";
import { Client } from "../client.ts";
import { attackerAddress } from "../stage.ts";
import { many, Tally } from "../tally.ts";

/** Passwords take long to hash, and threads that others need. */
export const usersAtOnce: Attempt = {
  name: "users-at-once",
  tries: "100 users with passwords made at once",
  holds: "each is made, or refused with 409, 429 or 503",
  async run({ attacker, apiPort, goesOn, scale, must }) {
    const client = new Client(apiPort, attacker.token, attackerAddress, 100);
    const statuses = new Tally();
    const stamp = Date.now();
    const count = scale(100, 10);
    await many(count, count, goesOn, async (index) => {
      const email = `made-${stamp}-${index}@example.com`;
      const user = {
        name: email,
        email,
        country: "CO",
        timeZone: "America/Bogota",
        password: `password ${stamp} ${index}`,
      };
      statuses.add((await client.ask("POST", "/api/users", { ...user, presentSecret: attacker.apiKey })).status);
    });
    client.close();
    must(statuses.besides(201, 409, 429, 503).length === 0, `each is made or refused: ${statuses}`);
    return { times: statuses.total, happened: String(statuses) };
  },
};
