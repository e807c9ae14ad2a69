import { readFileSync } from "node:fs";
import { credentialsFile } from "../../../src/credentials-file.ts";
import { avlLogin } from "../../support/avl.ts";
import type { Attempt, Scene } from "../attempt.ts";
import { Client, tokenOf } from "../client.ts";
import { Line } from "../peers.ts";
import { attackerAddress, freshAddress, freshIds } from "../stage.ts";
import { many } from "../tally.ts";

/** Logs in as a tracker that is not registered, which gets no answer, and is soon closed or not. */
async function knock(scene: Scene, id: string, from: string): Promise<void> {
  const line = new Line(scene.devicePort, { from });
  line.send(avlLogin(id));
  await line.until(() => line.received > 0, 50);
  line.end();
}

/** Invented trackers that are to push the others out of the list of those that knocked. */
export const inventedIds: Attempt = {
  name: "invented-ids",
  tries: "1,000 invented ids log in from one address after a tracker that somebody forgot to register",
  holds: "the forgotten one stays in the quarantine",
  async run(scene) {
    const [forgotten = ""] = freshIds(1);
    await knock(scene, forgotten, freshAddress());
    const ids = freshIds(scene.scale(1000, 300));
    const times = await many(ids.length, 50, scene.goesOn, async (index) => {
      await knock(scene, ids[index] ?? "", attackerAddress);
    });
    const { userName, apiKey } = JSON.parse(readFileSync(credentialsFile(scene.service.directory), "utf8"));
    const token = await tokenOf(scene.apiPort, String(userName), String(apiKey), freshAddress());
    const client = new Client(scene.apiPort, token, freshAddress());
    const { status, text } = await client.ask("GET", "/api/quarantine");
    client.close();
    scene.must(status === 200 && text.includes(forgotten), "the forgotten one stays in the quarantine");
    const kept = ids.filter((id) => text.includes(id)).length;
    return { times, happened: `${kept} of the invented and the forgotten one in the quarantine` };
  },
};
