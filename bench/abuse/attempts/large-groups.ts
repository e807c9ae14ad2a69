import type { Attempt } from "../attempt.ts";
import { Client } from "../client.ts";
import { attackerAddress } from "../stage.ts";
import { many, Tally } from "../tally.ts";

const readers = 8;

/** A body of nearly the largest size: a group of invented devices. */
function groupOf(index: number) {
  const devices = Array.from({ length: 15_000 }, (_, at) => `${index}-${at}-`.padEnd(60, "x"));
  return { name: `G${index}`, devices };
}

/** Groups that make a list no memory holds. */
export const largeGroups: Attempt = {
  name: "large-groups",
  tries: `600 groups of 1 MB, and ${readers} who read the list of them`,
  holds: "groups beyond the quota are refused with 409; lists are answered or refused",
  async run({ attacker, apiPort, goesOn, scale, must }) {
    const made = new Tally();
    await many(scale(600, 6), 4, goesOn, async (index) => {
      made.add((await attacker.client.ask("POST", "/api/groups", groupOf(index))).status);
    });
    must(made.besides(201, 409, 429).length === 0, `groups are made or refused: ${made}`);
    const read = new Tally();
    await Promise.all(
      Array.from({ length: readers }, async () => {
        const client = new Client(apiPort, attacker.token, attackerAddress, 1);
        const { status, text } = await client.ask("GET", "/api/groups");
        read.add(status === 200 && text.at(-1) !== "}" ? "200 cut short" : status);
        client.close();
      }),
    );
    must(read.besides(200, 429, 503).length === 0, `lists are answered or refused: ${read}`);
    return { times: made.total, happened: `groups ${made}; lists ${read}` };
  },
};

const clients = 20;

/** Small requests for large records: what they cost shows only when the record was read. */
export const largeRecords: Attempt = {
  name: "large-records",
  tries: `${clients} clients read groups of 1 MB and rename them, each as fast as it can`,
  holds: "they are answered or refused",
  async run({ attacker, apiPort, goesOn, prepared, scale, must }) {
    const ids = await Promise.all(
      Array.from({ length: scale(clients, 2) }, async (_, index) =>
        String((await attacker.client.take("POST", "/api/groups", groupOf(index))).id),
      ),
    );
    prepared();
    const statuses = new Tally();
    await Promise.all(
      ids.map(async (id, index) => {
        const client = new Client(apiPort, attacker.token, attackerAddress, 1);
        const rename = [{ op: "replace", path: "/name", value: "other" }];
        while (goesOn()) {
          const asked =
            index % 2 === 0 ? client.ask("GET", `/api/groups/${id}`) : client.ask("PATCH", `/api/groups/${id}`, rename);
          statuses.add((await asked).status);
        }
        client.close();
      }),
    );
    must(statuses.besides(200, 429, 503).length === 0, `they are answered or refused: ${statuses}`);
    return { times: statuses.total, happened: String(statuses) };
  },
};
