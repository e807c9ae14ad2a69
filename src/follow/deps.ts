import type { AlertEngine } from "../ports/alert-engine.ts";
import type { AlertStore } from "../ports/alert-store.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { FollowStore } from "../ports/follow.ts";
import type { Log } from "../ports/log.ts";
import type { PositionStore } from "../ports/positions.ts";
import type { Processes } from "../ports/processes.ts";
import type { DeviceStore } from "../ports/store.ts";

/** What the follower works with. */
export interface FollowerDeps {
  readonly store: {
    readonly follow: FollowStore;
    readonly positions: Pick<
      PositionStore,
      "append" | "read" | "readEach" | "unfollowed" | "pending" | "followed" | "left" | "deleteBefore"
    >;
    readonly alerts: Pick<AlertStore, "list">;
    readonly devices: Pick<DeviceStore, "findByKey">;
    /** Which devices this process follows. The follower becomes its heir. */
    readonly processes: Processes;
  };
  readonly engine: AlertEngine;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  /** More bytes than this may not wait to be followed. */
  readonly mostLagBytes: number;
}
