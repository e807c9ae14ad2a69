import type { Service } from "../../test/support/service.ts";

/** How a service is started other than usual. */
export interface Start {
  /** Settings and variables of its environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The data lies there instead. */
  readonly directory?: string;
}

/** What a fault works with. */
export interface Scene {
  /** The folder of the data. */
  readonly directory: string;
  /** The service of the latest start. */
  readonly service: Service;
  /** Numbers from 0 to 1 of the run's seed. */
  readonly random: () => number;
  /** How often the fault is injected. */
  readonly rounds: number;
  /** Lets time go by: from a third of so many ms up to all of them. */
  readonly wait: (ms: number) => Promise<void>;
  /** Lets trackers report to the service, which is started where it does not run. `how`: it is started anew, other than usual. */
  readonly start: (how?: Start) => Promise<void>;
  /** Lets trackers report for a while, until some were acknowledged at least. */
  readonly report: () => Promise<void>;
  /** Trackers drop their connections and do not come back before the next `drive` or start. */
  readonly rest: () => void;
  readonly drive: () => void;
  /** Records that were acknowledged. */
  readonly promised: () => number;
  /** Waits until each tracker was acknowledged once more: nothing of a fault that is over keeps one of them waiting. */
  readonly allAcknowledged: () => Promise<void>;
  /** Ends the service: as a crash does, or as Ctrl-C does, which must end with exit code 0. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Counts what happened, for the table. */
  readonly count: (what: string, times?: number) => void;
  /** Notes that something which must hold does not. */
  readonly must: (holds: boolean, what: string) => void;
}

/** One fault that befalls a service. */
export interface Fault {
  readonly name: string;
  /** What happens, for the table. */
  readonly does: string;
  /** What must hold beside what always must: nothing acknowledged is gone, nothing is there twice, and all that is derived is that of the plain fold. */
  readonly holds?: string;
  /** Why this machine can't have this fault. Absent, or undefined as its answer: it can. */
  readonly impossible?: () => string | undefined;
  /** The service's clock is changed, so the times of arrival are not looked at. */
  readonly clock?: true;
  readonly run: (scene: Scene) => Promise<void>;
}
