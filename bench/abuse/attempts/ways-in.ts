import type { Attempt, Scene } from "../attempt.ts";
import { Client, tokenOf } from "../client.ts";
import { freshAddress } from "../stage.ts";
import { Tally, wait } from "../tally.ts";

/** Bad tokens, and token requests, that an address has in a minute by default. An attempt may lie in two minutes. */
const tokensAMinute = 2 * 300;
const keysAMinute = 2 * 30;

/** Sends the same request on some connections, one behind the other, as long as the attempt goes on. */
async function flood(scene: Scene, token: string, method: string, path: string, body?: object): Promise<Tally> {
  const statuses = new Tally();
  const from = freshAddress();
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      const client = new Client(scene.apiPort, token, from, 1);
      while (scene.goesOn()) {
        statuses.add((await client.ask(method, path, body)).status);
        await wait(1);
      }
      client.close();
    }),
  );
  return statuses;
}

/** Tokens that were never issued. */
export const badTokens: Attempt = {
  name: "bad-tokens",
  tries: "requests with a bad token from one address, on 32 connections",
  holds: "401, then 429; a good token works",
  async run(scene) {
    const statuses = await flood(scene, "eyJhbGciOiJIUzI1NiJ9.e30.AAAA", "GET", "/api/devices");
    scene.must(statuses.besides(401, 429).length === 0, `401 or 429: ${statuses}`);
    scene.must(statuses.of(401) <= tokensAMinute, `no more than ${tokensAMinute} are looked at: ${statuses}`);
    const { status } = await scene.attacker.client.ask("GET", "/api/devices");
    scene.must(status === 200, `a good token works: ${status}`);
    return { times: statuses.total, happened: String(statuses) };
  },
};

/** Wrong keys for somebody else's user name. */
export const wrongKeys: Attempt = {
  name: "wrong-keys",
  tries: "token requests with wrong keys for one user, on 32 connections",
  holds: "401, then 429; the user itself gets a token from elsewhere",
  async run(scene) {
    const { userName, apiKey } = scene.attacker;
    const statuses = await flood(scene, "", "POST", "/api/Auth/Token", { userName, apiKey: "wrong" });
    scene.must(statuses.besides(401, 429).length === 0, `401 or 429: ${statuses}`);
    scene.must(statuses.of(401) <= keysAMinute, `no more than ${keysAMinute} are looked at: ${statuses}`);
    const token = await tokenOf(scene.apiPort, userName, apiKey, freshAddress()).catch(() => undefined);
    scene.must(token !== undefined, "the user itself gets a token from elsewhere");
    return { times: statuses.total, happened: String(statuses) };
  },
};
