import { protocolById } from "../../../src/protocols/index.ts";
import { numberedReport } from "../../../test/support/acked-tracker.ts";
import type { Attempt } from "../attempt.ts";
import { Datagrams, packet, Tracker } from "../peers.ts";
import { freshAddress } from "../stage.ts";
import { many, wait } from "../tally.ts";

/** One datagram in another protocol that says it is the device, so that its commands go elsewhere. */
export const takeover: Attempt = {
  name: "takeover",
  tries: "datagrams in another protocol that name a connected device, and then a command to it",
  holds: "each command goes to the device's own connection",
  async run(scene) {
    const { attacker, goesOn, must } = scene;
    const [id = ""] = await scene.devices(1);
    const tracker = await Tracker.login(scene, id);
    tracker.line.send(packet(1, Date.now() - 60_000, 1));
    await tracker.answeredAll(1);
    let commands = 0;
    tracker.line.socket.on("data", (chunk: Buffer) => {
      if (chunk.includes("status")) commands++;
    });
    const thief = await Datagrams.open(scene.devicePort, freshAddress());
    const h02 = protocolById("h02")?.simulate;
    let sent = 0;
    await many(scene.scale(10, 1), 1, goesOn, async (index) => {
      const datagram = h02?.report(id, [numberedReport(Date.now() - 30_000, index)], index);
      if (datagram !== undefined) await thief.send(datagram);
      await wait(100);
      sent++;
      const asked = attacker.client.ask("POST", `/api/devices/${id}/sendCommand`, { command: `status ${index}` });
      await tracker.line.until(() => commands >= sent, 2000);
      // Nobody answers the command: its own limit of time ends the wait.
      void asked;
    });
    must(commands === sent, `each command goes to the device's own connection: ${commands} of ${sent}`);
    thief.end();
    tracker.line.end();
    return { times: sent, happened: `${commands} of ${sent} commands at the device's own connection` };
  },
};
