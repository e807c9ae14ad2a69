/** From this part of its time on the event loop is busy: reports and requests need the processors. */
export const busyPart = 0.3;

/** Gives a function that tells which part of its time the event loop was busy since it was last asked, 0 to 1. */
export function loopLoad(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}
