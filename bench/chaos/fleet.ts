import { chance } from "../../test/support/any-order.ts";
import {
  type FleetTracker,
  fleetTracker,
  historyStart,
  type Kind,
  type Telling,
} from "../../test/support/crash-fleet.ts";

/*
 * Trackers that report as fast as they are acknowledged. Each tells its history in its own way: in order, late in random order, twice, several reports of a
 * moment, or with a clock that stands still.
 */

/** Messages that are shuffled among each other. */
const shuffledTogether = 50;
/** Every so many messages a tracker repeats an earlier one, which lies so far back at most. */
const repeatEach = 3;
const repeatBack = 40;
/** Reports of one moment. */
const sameMoment = 8;

type Way = (start: number, random: number) => Telling;

const inOrder = (start: number) => (number: number) => start + number * 1000;

/** The same for the same message, so that a message can be sent again exactly as it was. */
function shuffled(seed: number, block: number): readonly number[] {
  const random = chance(seed + block);
  const places = Array.from({ length: shuffledTogether }, (_, place) => [random(), place] as const);
  return places.toSorted(([one], [other]) => one - other).map(([, place]) => place);
}

const ways: readonly Way[] = [
  (start) => ({ slot: (message) => message, time: inOrder(start) }),
  (start, seed) => ({
    slot: (message) => {
      const block = Math.floor(message / shuffledTogether);
      return block * shuffledTogether + (shuffled(seed, block)[message % shuffledTogether] ?? 0);
    },
    time: inOrder(start),
  }),
  (start, seed) => ({
    slot: (message) =>
      message % repeatEach === repeatEach - 1
        ? Math.max(0, message - Math.ceil(chance(seed + message)() * repeatBack))
        : message,
    time: inOrder(start),
  }),
  (start) => ({
    slot: (message) => message,
    time: (number) => start + Math.floor(number / sameMoment) * sameMoment * 1000,
  }),
  (start) => ({ slot: (message) => message, time: () => start }),
];

const kinds: readonly Kind[] = [
  // The one that fills blocks.
  ["teltonika", "tcp", 15],
  ["teltonika", "tcp", 1],
  ["teltonika", "udp", 5],
  ["gt06", "tcp", 1],
  ["h02", "tcp", 1],
  ["osmand", "http", 1],
];

/** Before a tracker connects again, ms. */
const againMs = 50;

/** A tracker that waits so long for an acknowledgement connects anew and sends the message again, ms. Real ones wait longer. */
const patienceMs = 2000;

/** Trackers that come back whenever their connection ends, until they are told to rest. */
export class Fleet {
  readonly trackers: readonly FleetTracker[];
  /** Distinguishes the present drive from what earlier ones left behind. */
  #drive = 0;
  #watch: NodeJS.Timeout | undefined;
  /** Messages that were acknowledged, by tracker, when somebody looked last. */
  #seen: readonly number[] = [];

  /** Each way of telling with the first kind and one other; `whole`: with every kind. */
  constructor(random: () => number, whole: boolean) {
    const start = historyStart();
    const pairs = ways.flatMap((way, at) =>
      kinds.map((kind, place) => ({ way, kind, taken: whole || place === 0 || place === at + 1 })),
    );
    this.trackers = pairs
      .filter(({ taken }) => taken)
      .map(({ way, kind }, index) =>
        fleetTracker(`35298000${String(index).padStart(7, "0")}`, kind, way(start, Math.floor(random() * 2 ** 31))),
      );
  }

  get ids(): readonly string[] {
    return this.trackers.map(({ device }) => device);
  }

  /** Messages that were acknowledged. */
  get acked(): number {
    return this.trackers.reduce((sum, { acked }) => sum + acked, 0);
  }

  /** Lets all report to a port: on one connection each, so that an acknowledgement is that of the message in flight. */
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

  /** Lets each finish the message in flight, and rest then. */
  async finish(): Promise<void> {
    await Promise.all(this.trackers.map((tracker) => tracker.finish()));
    this.rest();
  }

  /** Drops all connections without a word. */
  rest(): void {
    this.#drive++;
    clearInterval(this.#watch);
    this.#seen = [];
    for (const tracker of this.trackers) tracker.drop();
  }
}
