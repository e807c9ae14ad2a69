import { chance } from "../../test/support/any-order.ts";
import {
  type FleetTracker,
  fleetTracker,
  historyStart,
  type Kind,
  type Telling,
} from "../../test/support/crash-fleet.ts";
import type { Histories } from "./fault.ts";

/*
 * Trackers that report as fast as they are acknowledged. Each tells its history in its own way: in order, late in
 * random order, twice, several reports of a moment, or with a clock that stands still.
 */

/** The number of messages that are shuffled together. */
const shuffledTogether = 50;
/** A tracker repeats an earlier message after each two new ones. */
const repeatEach = 3;
/** The repeated message is at most this many messages older. */
const repeatBack = 40;
/** The number of reports that have the same time. */
const sameMoment = 8;

/** The time of a report, ms. */
type Time = Telling["time"];
type Way = (time: Time, random: number) => Telling;

/** Returns the same order for the same block, so that a tracker can send a message again unchanged. */
function shuffled(seed: number, block: number): readonly number[] {
  const random = chance(seed + block);
  const places = Array.from({ length: shuffledTogether }, (_, place) => [random(), place] as const);
  return places.toSorted(([one], [other]) => one - other).map(([, place]) => place);
}

const ways: readonly Way[] = [
  (time) => ({ slot: (message) => message, time }),
  (time, seed) => ({
    slot: (message) => {
      const block = Math.floor(message / shuffledTogether);
      return block * shuffledTogether + (shuffled(seed, block)[message % shuffledTogether] ?? 0);
    },
    time,
  }),
  (time, seed) => ({
    slot: (message) =>
      message % repeatEach === repeatEach - 1
        ? Math.max(0, message - Math.ceil(chance(seed + message)() * repeatBack))
        : message,
    time,
  }),
  (time) => ({
    slot: (message) => message,
    time: (number) => time(Math.floor(number / sameMoment) * sameMoment),
  }),
  (time) => ({ slot: (message) => message, time: () => time(0) }),
];

const kinds: readonly Kind[] = [
  // Only trackers of this kind send enough records to fill blocks.
  ["teltonika", "tcp", 15],
  ["teltonika", "tcp", 1],
  ["teltonika", "udp", 5],
  ["gt06", "tcp", 1],
  ["h02", "tcp", 1],
  ["osmand", "http", 1],
];

/** The time before a tracker connects again, ms. */
const againMs = 50;

/**
 * After this time without an acknowledgement, a tracker connects anew and sends the message again, ms. Real trackers
 * wait longer.
 */
const patienceMs = 2000;

/** Trackers that connect again whenever their connection ends, until `rest`. */
export class Fleet {
  readonly trackers: readonly FleetTracker[];
  /** Number of the present drive. Timers of earlier drives do nothing. */
  #drive = 0;
  #watch: NodeJS.Timeout | undefined;
  /** Acknowledged messages of each tracker at the last check. */
  #seen: readonly number[] = [];

  /** Makes a tracker of the first kind and one of another kind for each way. With `whole`, makes one of every kind. */
  constructor(random: () => number, whole: boolean, histories?: Histories) {
    const start = histories?.start ?? historyStart();
    const time = (perMessage: number): Time => {
      const step = histories === undefined ? 1000 : 1000 / perMessage;
      return (number) => start + Math.floor(number * step);
    };
    const pairs = ways.flatMap((way, at) =>
      kinds.map((kind, place) => ({ way, kind, taken: whole || place === 0 || place === at + 1 })),
    );
    this.trackers = pairs
      .filter(({ taken }) => taken)
      .map(({ way, kind }, index) =>
        fleetTracker(
          `35298000${String(index).padStart(7, "0")}`,
          kind,
          way(time(kind[2]), Math.floor(random() * 2 ** 31)),
        ),
      );
  }

  get ids(): readonly string[] {
    return this.trackers.map(({ device }) => device);
  }

  /** The number of acknowledged messages. */
  get acked(): number {
    return this.trackers.reduce((sum, { acked }) => sum + acked, 0);
  }

  /**
   * Lets each tracker report to a port on a single connection, so that an acknowledgement is that of the message in
   * flight.
   */
  drive(port: number): void {
    this.rest();
    const drive = ++this.#drive;
    for (const tracker of this.trackers) {
      const again = () => {
        if (drive === this.#drive) tracker.run(port, () => void setTimeout(again, againMs).unref());
      };
      again();
    }
    this.#watch = setInterval(() => this.#dropSilent(), patienceMs).unref();
  }

  #dropSilent(): void {
    for (const [index, tracker] of this.trackers.entries())
      if (!tracker.repeats && tracker.acked === this.#seen[index]) tracker.drop();
    this.#seen = this.trackers.map(({ acked }) => acked);
  }

  /** Lets each tracker finish the message in flight, then rest. */
  async finish(): Promise<void> {
    await Promise.all(this.trackers.map((tracker) => tracker.finish()));
    this.rest();
  }

  /** Drops all connections. */
  rest(): void {
    this.#drive++;
    clearInterval(this.#watch);
    this.#seen = [];
    for (const tracker of this.trackers) tracker.drop();
  }
}
