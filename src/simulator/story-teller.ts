import { type ReadingName, type Readings, readingNames } from "../model/readings.ts";
import type { AnyProtocol, SimulatedReport } from "../wire/protocol.ts";
import type { Act, ReadingChanges, Story, StoryTracker } from "./story.ts";
import { type Motion, Way } from "./story-motion.ts";

/**
 * How a tracker stands to the service. `keeps`: not connected, it stores what it has to report · `loses`: not
 * connected, what it has to report is lost.
 */
export type Link = "connected" | "keeps" | "loses";

/** A report of a tracker, and whether it is connected then. */
export interface Telling {
  /** ms after the story's start */
  readonly at: number;
  readonly link: Link;
  readonly report: SimulatedReport;
}

/** Satellites and charge (%) of a tracker whose story says nothing of them. */
const usualSatellites = 9;
const usualBattery = 100;

/**
 * What a tracker of a story reports, by time: at its interval from the start to the end, and at each moment at which
 * something happens to it, an arrival among them. An alarm is a report of its own. The ignition is on while it drives,
 * unless the story says otherwise.
 */
export function* tell(tracker: StoryTracker, length: number, begin: number): Generator<Telling> {
  const life = new Life(tracker);
  let next = 0;
  for (let at = 0; at <= length; ) {
    const acts: Act[] = [];
    for (let act = tracker.acts[next]; act?.at === at; act = tracker.acts[++next]) acts.push(act);
    yield* life.moment(at, acts, begin);
    if (at === length) return;
    const regular = (Math.floor(at / tracker.interval) + 1) * tracker.interval;
    const following = [regular, tracker.acts[next]?.at, life.arrival].filter((time) => time !== undefined && time > at);
    at = Math.min(length, ...following.map(Number));
  }
}

class Life {
  #link: Link = "connected";
  #readings: Readings = {};
  #motion: Motion;
  #way: { readonly way: Way; readonly since: number } | undefined;

  constructor({ place, readings }: StoryTracker) {
    this.#motion = { ...place, speed: 0, course: 0 };
    this.#set(readings);
  }

  /** When the drive ends that it is on. */
  get arrival(): number | undefined {
    return this.#way && this.#way.since + this.#way.way.duration;
  }

  *moment(at: number, acts: readonly Act[], begin: number): Generator<Telling> {
    this.#move(at);
    for (const act of acts) this.#take(act, at);
    if (acts.length > 0) this.#move(at);
    const told = { at, link: this.#link };
    const report = this.#report(begin + at);
    const alarms = acts.filter((act) => act.do === "alarm");
    for (const { alarm } of alarms) yield { ...told, report: { ...report, alarm } };
    if (alarms.length === 0) yield { ...told, report };
  }

  #move(at: number): void {
    if (this.#way === undefined) return;
    const elapsed = at - this.#way.since;
    this.#motion = this.#way.way.at(elapsed);
    if (elapsed >= this.#way.way.duration) this.#way = undefined;
  }

  #take(act: Act, at: number): void {
    if (act.do === "drive") this.#way = { way: new Way(this.#motion, act.along, act.speed), since: at };
    else if (act.do === "stay") {
      this.#way = undefined;
      this.#motion = { ...this.#motion, speed: 0 };
    } else if (act.do === "silent") this.#link = act.keeps ? "keeps" : "loses";
    else if (act.do === "online") this.#link = "connected";
    else this.#set(act.readings);
  }

  #set(changes: ReadingChanges): void {
    const all = Object.entries({ ...this.#readings, ...changes });
    this.#readings = Object.fromEntries(all.filter(([, value]) => value !== null));
  }

  #report(time: number): SimulatedReport {
    const { latitude, longitude, altitude, speed, course } = this.#motion;
    const { ignition = speed > 0, battery = usualBattery, satellites = usualSatellites } = this.#readings;
    const place = { time, latitude, longitude, altitude, speed, course, satellites, ignition, battery };
    return Object.keys(this.#readings).length > 0 ? { ...place, readings: this.#readings } : place;
  }
}

/**
 * Readings and alarms of a story that a tracker's protocol can't carry: sentences, one for each tracker that has any.
 */
export function untold({ trackers }: Story): readonly string[] {
  return trackers.flatMap(({ name, protocol, readings, acts }) => {
    const carried = protocol.simulate?.carries;
    const named = [readings, ...acts.flatMap((act) => ("readings" in act ? [act.readings] : []))];
    const wanted = new Set(named.flatMap((each) => namesOf(each)));
    const alarms = new Set(acts.flatMap((act) => (act.do === "alarm" ? [act.alarm] : [])));
    const left = [
      ...[...wanted].filter((reading) => !carries(protocol, reading)),
      ...[...alarms].filter((alarm) => !carried?.alarms.includes(alarm)).map((alarm) => `the alarm ${alarm}`),
    ];
    return left.length > 0 ? [`${name}: ${protocol.id} can't carry ${left.join(", ")}`] : [];
  });
}

/** Whether reports of a protocol hold a reading. */
function carries(protocol: AnyProtocol, reading: ReadingName): boolean {
  return protocol.simulate?.carries?.readings.includes(reading) ?? false;
}

function namesOf(changes: ReadingChanges): readonly ReadingName[] {
  return readingNames.filter((name) => changes[name] !== undefined && changes[name] !== null);
}
