import type { Clock } from "../ports/clock.ts";
import type { Fleet } from "./fleet.ts";
import { Gate } from "./gate.ts";
import { type FleetDevice, identifier } from "./identity.ts";
import { randomOf } from "./random.ts";
import { type Counts, type FleetStats, newCounts } from "./stats.ts";
import { type Story, storyBegin, storyLimits } from "./story.ts";
import { type Telling, tell } from "./story-teller.ts";
import { Tracker } from "./tracker.ts";

/** A story, and how it is played. */
export interface StoryFleetOptions {
  readonly story: Story;
  /** So many times as fast as it is written; 1 or more. */
  readonly speedUp: number;
  /** Gives trackers without an id theirs. */
  readonly seed: string;
  /** Where trackers connect. */
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  /** Makes the devices known to the service; called once, before any of them connects. */
  readonly register: (devices: readonly FleetDevice[]) => Promise<void>;
  /** Connections opened in a second; 500 where absent. */
  readonly connectsPerSecond?: number;
  /** First delay before a lost connection is opened again, ms; 1000 where absent. */
  readonly retryDelay?: number;
}

/** A fleet that lives through a story. */
export interface StoryFleet extends Fleet {
  /** The first and the last moment of the story, epoch ms: the times that its reports carry lie between them. */
  readonly begin: number;
  readonly end: number;
}

/**
 * Registers the story's devices and lets it begin. `finished` when everything happened and arrived, but for what
 * trackers keep that stay silent.
 */
export async function startStory(options: StoryFleetOptions): Promise<StoryFleet> {
  const { story, seed } = options;
  const devices = story.trackers.map(({ id, name, protocol }, index) => ({
    id: id ?? identifier(`${seed}/${story.title}`, index),
    name,
    protocol,
    tags: { simulated: "true", scenario: story.title },
  }));
  await options.register(devices);
  return new PlayedStory(options, devices);
}

/** A tracker, and what comes next of its story. */
interface Member {
  readonly tracker: Tracker;
  readonly tellings: Generator<Telling>;
  next: Telling | undefined;
  timer: NodeJS.Timeout | undefined;
}

class PlayedStory implements StoryFleet {
  readonly devices: readonly FleetDevice[];
  readonly begin: number;
  readonly end: number;
  readonly finished: Promise<FleetStats>;
  readonly #options: StoryFleetOptions;
  readonly #counts: Counts;
  readonly #gate: Gate;
  readonly #members: readonly Member[];
  readonly #finish: (stats: FleetStats) => void;
  readonly #origin: number;
  #stopping = false;

  constructor(options: StoryFleetOptions, devices: readonly FleetDevice[]) {
    const { story, clock, speedUp } = options;
    this.#options = options;
    this.devices = devices;
    this.#counts = newCounts(devices.length);
    this.#gate = new Gate(options.connectsPerSecond ?? 500);
    const { promise, resolve } = Promise.withResolvers<FleetStats>();
    this.finished = promise;
    this.#finish = resolve;
    this.begin = storyBegin(story, clock.now(), speedUp);
    this.end = this.begin + story.length;
    this.#origin = clock.monotonic();
    this.#members = this.#makeMembers();
    for (const member of this.#members) this.#play(member);
  }

  get stats(): FleetStats {
    return { ...this.#counts };
  }

  async stop(graceMs = 2000): Promise<FleetStats> {
    this.#stopping = true;
    for (const { timer } of this.#members) clearTimeout(timer);
    this.#endIfDone();
    const grace = setTimeout(() => this.#end(), graceMs);
    const stats = await this.finished;
    clearTimeout(grace);
    return stats;
  }

  #makeMembers(): readonly Member[] {
    const { story, seed, host, port, retryDelay = 1000 } = this.#options;
    const random = randomOf(`${seed}/delays`);
    // A story is played wholly: no tracker of it runs out of memory.
    const shared = { host, port, backlog: storyLimits.reports, gate: this.#gate, counts: this.#counts, random };
    return this.devices.flatMap(({ id, protocol }, index) => {
      const written = story.trackers[index];
      if (written === undefined) return [];
      const tellings = tell(written, story.length, this.begin);
      const onEmpty = () => this.#play(member);
      const tracker = new Tracker(id, protocol, { ...shared, retryDelay, onEmpty });
      const member: Member = { tracker, tellings, next: tellings.next().value ?? undefined, timer: undefined };
      return [member];
    });
  }

  /**
   * Everything of a tracker's story whose time has come; then waits for the next. It goes silent when what it told
   * before has arrived: played fast, or at a busy service, that may take longer than the story says.
   */
  #play(member: Member): void {
    clearTimeout(member.timer);
    if (this.#stopping) {
      this.#endIfDone();
      return;
    }
    const { clock, speedUp } = this.#options;
    const { tracker } = member;
    const elapsed = (clock.monotonic() - this.#origin) * speedUp;
    for (let { next } = member; next !== undefined && next.at <= elapsed; { next } = member) {
      if (next.link !== "connected" && !tracker.silent && tracker.waiting > 0) return;
      // Before the tracker is told, since it may call back at once that it has nothing left to tell.
      member.next = member.tellings.next().value ?? undefined;
      this.#happen(tracker, next);
    }
    if (member.next === undefined) this.#endIfDone();
    else member.timer = setTimeout(() => this.#play(member), Math.ceil((member.next.at - elapsed) / speedUp));
  }

  #happen(tracker: Tracker, { link, report }: Telling): void {
    if (link === "connected") tracker.resume();
    else tracker.silence();
    if (link !== "loses") tracker.report(report);
  }

  #endIfDone(): void {
    const told = this.#stopping || this.#members.every(({ next }) => next === undefined);
    if (told && this.#members.every(({ tracker }) => tracker.silent || tracker.waiting === 0)) this.#end();
  }

  #end(): void {
    this.#gate.close();
    for (const { tracker, timer } of this.#members) {
      clearTimeout(timer);
      tracker.stop();
    }
    this.#finish(this.stats);
  }
}
