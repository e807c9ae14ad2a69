import type { Alarm } from "../model/alarms.ts";
import type { Readings } from "../model/readings.ts";
import type { AnyProtocol } from "../wire/protocol.ts";

/** Where something is: WGS-84 degrees, altitude in m. */
export interface StoryPlace {
  readonly latitude: number;
  readonly longitude: number;
  readonly altitude: number;
}

/** What readings become; null: the tracker reports it no more. */
export type ReadingChanges = { readonly [K in keyof Readings]?: Readings[K] | null };

/** Something that happens to a tracker. `at`: ms after the story's start, whole seconds. */
export type Act = { readonly at: number } & (
  | {
      /** It drives from where it is to the first of these places, then on to the others. `speed`: km/h. */
      readonly do: "drive";
      readonly along: readonly StoryPlace[];
      readonly speed: number;
    }
  /** It stands still, wherever it is. */
  | { readonly do: "stay" }
  | { readonly do: "set"; readonly readings: ReadingChanges }
  | { readonly do: "alarm"; readonly alarm: Alarm; readonly readings: ReadingChanges }
  /** Its connection is gone. `keeps`: it stores what it has to report until it is back; else that is lost. */
  | { readonly do: "silent"; readonly keeps: boolean }
  | { readonly do: "online" }
);

/** A tracker of a story. */
export interface StoryTracker {
  /** As the tracker reports it; undefined: one is made of the seed. */
  readonly id: string | undefined;
  readonly name: string;
  readonly protocol: AnyProtocol;
  /** Between two reports, ms, whole seconds. */
  readonly interval: number;
  readonly place: StoryPlace;
  readonly readings: ReadingChanges;
  /** By time. */
  readonly acts: readonly Act[];
}

/** When a story's clock stands at its beginning: a time of day. */
export interface StoryStart {
  /** Minutes after midnight. */
  readonly minute: number;
  /** IANA name. */
  readonly timeZone: string;
}

/** A written story that a fleet lives through. */
export interface Story {
  readonly title: string;
  /** Undefined: it can begin at any time. */
  readonly start: StoryStart | undefined;
  /** ms */
  readonly length: number;
  readonly trackers: readonly StoryTracker[];
}

/**
 * Largest story: one process plays so many trackers well, and so many reports fit in its memory where all of them wait.
 */
export const storyLimits = {
  trackers: 1000,
  acts: 1000,
  /** ms: a week. */
  length: 7 * 86_400_000,
  reports: 1_000_000,
} as const;

/**
 * When the story's clock begins, epoch ms, whole seconds: so that played `speedUp` times as fast from `now` on, no
 * report is of the future, and its last one of the present; for a story with a time of day, at that time of the latest
 * day on which this holds.
 */
export function storyBegin(story: Story, now: number, speedUp: number): number {
  const latest = now - story.length * (1 - 1 / speedUp);
  if (story.start === undefined) return Math.floor(latest / 1000) * 1000;
  const { minute, timeZone } = story.start;
  const time = Temporal.PlainTime.from({ hour: Math.floor(minute / 60), minute: minute % 60 });
  for (
    let day = Temporal.Instant.fromEpochMilliseconds(Math.floor(latest)).toZonedDateTimeISO(timeZone).toPlainDate();
    ;
  ) {
    const begin = day.toZonedDateTime({ timeZone, plainTime: time }).epochMilliseconds;
    if (begin <= latest) return begin;
    day = day.subtract({ days: 1 });
  }
}
