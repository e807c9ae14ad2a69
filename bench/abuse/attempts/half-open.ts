import type { Attempt } from "../attempt.ts";
import { Line, Tracker } from "../peers.ts";
import { attackerAddress, freshAddress } from "../stage.ts";
import { many, wait } from "../tally.ts";

/** Connections of the trackers' port that never say which device they are. */
function halfOpen(name: string, whence: string, address: (index: number) => string): Attempt {
  return {
    name,
    tries: `18,000 connections ${whence} that never say which device they are`,
    holds: "a device logs in",
    async run(scene) {
      const [id = ""] = await scene.devices(1);
      const lines: Line[] = [];
      await many(scene.scale(18_000, 300), 100, scene.goesOn, async (index) => {
        const line = new Line(scene.devicePort, { from: address(index) });
        lines.push(line);
        line.send("\0");
        await line.until(() => line.opened, 2000);
      });
      while (scene.goesOn()) await wait(50);
      const tracker = await Tracker.login(scene, id, freshAddress());
      scene.must(tracker.known, "a device logs in");
      tracker.line.end();
      const open = lines.filter((line) => line.opened && !line.closed).length;
      for (const line of lines) line.end();
      return { times: lines.length, happened: `${open.toLocaleString("en")} open at the end` };
    },
  };
}

export const halfOpenOne = halfOpen("half-open-one-address", "from one address", () => attackerAddress);
export const halfOpenMany = halfOpen(
  "half-open-many-addresses",
  "from as many addresses",
  (index) => `127.70.${(index >> 8) & 255}.${index & 255}`,
);
