import type { Metrics } from "../ports/metrics.ts";
import type { Follower } from "./follower.ts";

/** Registers the metrics of the follower. */
export function measureFollower(metrics: Metrics, follower: Follower): void {
  metrics.gauge(
    "waybeam_follow_devices_behind",
    "Devices with late positions that wait to be folded in their places.",
    () => follower.behind,
  );
  metrics.gauge(
    "waybeam_follow_late_seconds",
    "For how long the device that has waited longest has had late positions that are not folded in their places.",
    () => follower.lateSeconds,
  );
  metrics.gauge(
    "waybeam_follow_lag_bytes",
    "Memory of positions that are stored and not followed yet (an estimate).",
    () => follower.lagBytes,
  );
  metrics.total(
    "waybeam_positions_deleted_total",
    "Positions deleted because they were older than their account or device keeps.",
    () => follower.keeping.deleted,
  );
  metrics.gauge("waybeam_follow_devices", "Devices whose state is in memory.", () => follower.inMemory);
  metrics.gauge(
    "waybeam_follow_uncommitted_devices",
    "Devices whose state in memory is newer than the one on disk.",
    () => follower.uncommitted,
  );
}
