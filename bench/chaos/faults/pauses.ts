import type { Fault } from "../fault.ts";

/** How long the process stands still at most, ms. */
const standsMs = 3000;

/** The process is stopped and goes on, as on a machine that sleeps or is moved to another host. */
export const pause: Fault = {
  name: "pause",
  does: "SIGSTOP for seconds while trackers report, then SIGCONT",
  holds: "every tracker is acknowledged again, without a restart",
  run: async (scene) => {
    for (let round = 0; round < scene.rounds; round++) {
      await scene.start();
      await scene.report();
      const { child } = scene.service;
      child.kill("SIGSTOP");
      await scene.wait(standsMs);
      child.kill("SIGCONT");
      scene.count("pauses");
      await scene.allAcknowledged();
    }
  },
};
