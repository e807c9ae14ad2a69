import { performance } from "node:perf_hooks";

/** From this part of its time on the event loop is busy: reports and requests need the processors. */
const busyPart = 0.3;

/** Tells whether the event loop was busy since it was last asked. */
export function loopLoad(): () => boolean {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization > busyPart;
  };
}
