import { avlLogin } from "../../support/avl.ts";
import type { Attempt } from "../attempt.ts";
import { Line, Tracker } from "../peers.ts";
import { freshAddress } from "../stage.ts";
import { many } from "../tally.ts";

/** Connections that all say they are one device. */
export const manyLogins: Attempt = {
  name: "many-logins",
  tries: "18,000 logins as one device, on connections that stay",
  holds: "another device logs in",
  async run(scene) {
    const [id = "", other = ""] = await scene.devices(2);
    const lines: Line[] = [];
    await many(scene.scale(18_000, 300), 100, scene.goesOn, async () => {
      const line = new Line(scene.devicePort);
      lines.push(line);
      line.send(avlLogin(id));
      await line.until(() => line.received > 0, 2000);
    });
    const tracker = await Tracker.login(scene, other, freshAddress());
    scene.must(tracker.known, "another device logs in");
    tracker.line.end();
    const open = lines.filter((line) => line.opened && !line.closed).length;
    for (const line of lines) line.end();
    return { times: lines.length, happened: `${open} of them open at the end` };
  },
};
