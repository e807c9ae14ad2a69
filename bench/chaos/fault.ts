import type { PostgresServer } from "../../test/support/postgres.ts";
import type { Service } from "../../test/support/service.ts";
import type { CutDisk } from "./cut-disk.ts";

/** How a start differs from the usual one. */
export interface Start {
  /** Additional settings and environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Another data folder. */
  readonly directory?: string;
}

/** When the trackers' histories are, where a fault needs some of its own. It is played on a folder of its own, too. */
export interface Histories {
  /** Time of the first reports, epoch ms. The reports of a message take a second. */
  readonly start: number;
  /** Records from before may be deleted meanwhile, epoch ms. */
  readonly keptFrom?: number;
}

/** A PostgreSQL server of a fault's own, whose databases hold what the service stores. */
export interface Served {
  readonly server: PostgresServer;
  /** The server's disk, where its power may be cut. */
  readonly disk?: CutDisk;
  readonly dispose: () => Promise<void>;
}

/** What a fault works with. */
export interface Scene {
  /** The data folder. */
  readonly directory: string;
  /** The trackers' devices. */
  readonly devices: readonly string[];
  /** The service of the latest start. */
  readonly service: Service;
  /** The server of a fault that has one. */
  readonly served: Served;
  /** Random numbers from 0 to 1, made from the run's seed. */
  readonly random: () => number;
  /** How often the fault is injected. */
  readonly rounds: number;
  /** Waits for a random time: a third of `ms` at least, `ms` at most. */
  readonly wait: (ms: number) => Promise<void>;
  /** Starts the service unless it runs, and lets the trackers report to it. With `how`, the service starts anew. */
  readonly start: (how?: Start) => Promise<void>;
  /** Lets the trackers report for a while, at least until some of them are acknowledged. */
  readonly report: () => Promise<void>;
  /** Lets the trackers report until each had so many messages acknowledged since the folder was made. */
  readonly reported: (messages: number) => Promise<void>;
  /** Drops the trackers' connections. The trackers connect again at the next `drive` or start. */
  readonly rest: () => void;
  readonly drive: () => void;
  /** The number of acknowledged records. */
  readonly promised: () => number;
  /** Waits until each tracker is acknowledged once more. A fault that is over must keep no tracker waiting. */
  readonly allAcknowledged: () => Promise<void>;
  /** Ends the service as a crash does. */
  readonly kill: () => Promise<void>;
  /** Ends the service as Ctrl-C does. The exit code must be 0. */
  readonly stop: () => Promise<void>;
  /** Counts what happened, for the table. */
  readonly count: (what: string, times?: number) => void;
  /** Records a violation unless `holds`. `what`: what must hold. */
  readonly must: (holds: boolean, what: string) => void;
}

/** One fault that befalls a service. */
export interface Fault {
  readonly name: string;
  /** What happens, for the table. */
  readonly does: string;
  /**
   * What must hold of this fault alone. After every fault, no acknowledged record is missing, none is stored twice, and
   * derived values are those of the plain fold.
   */
  readonly holds?: string;
  /** Says why this machine can't play the fault. Absent, or returns undefined: the machine can. */
  readonly impossible?: () => string | undefined;
  /** The fault changes the service's clock, so times of arrival are not compared. */
  readonly clock?: true;
  /**
   * Absent: the trackers report of the days since 20 days ago, and the fault may be played on a folder that others have
   * left.
   */
  readonly histories?: Histories;
  /** Starts the server that the service stores on. Absent: it stores in the data folder. */
  readonly serve?: () => Promise<Served>;
  readonly run: (scene: Scene) => Promise<void>;
}

/** Whether a fault may be played on a folder that others have left. */
export function sharesFolder({ histories, serve }: Fault): boolean {
  return histories === undefined && serve === undefined;
}
