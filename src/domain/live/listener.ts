import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import type { DeviceScope } from "../visibility.ts";
import type { Change } from "./change-log.ts";
import {
  aboutDevice,
  type Framed,
  type LiveChange,
  type LiveChanges,
  type LiveDevice,
  type ResetReason,
} from "./changes.ts";
import { eventFrame } from "./frame.ts";
import { holdsPosition, type LiveBox, sameScope, type Wanted } from "./scope.ts";

/** States of devices that are read at a time where they are not in memory. */
const readAhead = 100;
/** Devices that somebody sees, of which it keeps what their changes are about: some 200 bytes each. */
const fewDevices = 100;

/** Who listens, to what, and what it is told by. */
export interface ListenerContext {
  readonly feed: LiveChanges;
  readonly wanted: Wanted;
  /** The user, if it may still listen; else why not. */
  readonly authorize: () => User | ApiError | Promise<User | ApiError>;
  /** The devices that the user sees and wants. Rejects with an ApiError where it may listen so no longer. */
  readonly scopeOf: (user: User) => Promise<DeviceScope>;
  /** What it gets of an event; absent: all of it. */
  readonly shown?: ((frame: Uint8Array, device: LiveDevice) => Uint8Array) | undefined;
  /** There may be something to take. */
  readonly changed: () => void;
  /** What was to be found out could not be: it is asked again later. */
  readonly failed: (error: unknown) => void;
}

/** Events for a listener; `more`: there are further ones already. */
export interface Taken {
  readonly frames: readonly Uint8Array[];
  readonly more: boolean;
}

const nothing: Taken = { frames: [], more: false };
const readNow: Taken = { frames: [], more: true };

/** Where a device is: nobody knows, in the listener's box, outside of it. */
const unknown = 0;
const inside = 1;
const outside = 2;

/**
 * Somebody who is told of changes. It has no queue: what it is owed are the changes behind its place. First it is told
 * the present, which are the positions of all devices (`present`), or what it missed (`resumed`); from then on what
 * happens (`live`).
 */
export class Listener {
  readonly #context: ListenerContext;
  #position = 0;
  #phase: "present" | "resumed" | "live" = "present";
  /** Events that come before others. */
  #first: Uint8Array[] = [];
  #user: User;
  /** What it sees; undefined: nobody knows at the moment. */
  #scope: DeviceScope | undefined;
  #lastScope: DeviceScope | undefined;
  /** What its devices' changes are about, where they are few. */
  #abouts: readonly string[] | undefined;
  /** Where devices are, by their index, if it wants those of a box. */
  #places = new Uint8Array(0);
  #lastAsked = 0;
  /** Questions for what it sees that are not answered yet. */
  #asking = 0;
  #ended: ApiError | undefined;
  #closed = false;

  constructor(context: ListenerContext, user: User) {
    this.#context = context;
    this.#user = user;
  }

  /** Up to here it has read. */
  get position(): number {
    return this.#position;
  }

  get userKey(): number {
    return this.#user.key;
  }

  /** Why it may listen no longer. */
  get ended(): ApiError | undefined {
    return this.#ended;
  }

  /** The id of its place, once it has all up to there. */
  get cursor(): string | undefined {
    return this.#phase === "live" && this.#scope !== undefined ? this.#context.feed.cursor(this.#position) : undefined;
  }

  /**
   * Begins at a place, or with the present, for a reason if it does not begin there by its own wish. Resolves when it
   * is known what it sees.
   */
  begin(from: number | ResetReason | undefined): Promise<void> {
    if (typeof from === "number") {
      this.#position = from;
      this.#phase = "resumed";
    } else if (from !== undefined) this.#restart(from);
    return this.#look();
  }

  close(): void {
    this.#closed = true;
    this.#scope = undefined;
    this.#lastAsked++;
  }

  /** Asks whether it may still listen. Where the user is another than before, or in doubt, asks what that sees. */
  check(): void {
    const answer = this.#context.authorize();
    if (answer instanceof Promise) answer.then((later) => this.#judge(later), this.#context.failed);
    else this.#judge(answer);
  }

  /** What its user sees may have changed: it is told nothing until that is known. */
  doubt(): void {
    this.#scope = undefined;
    this.#look().catch(this.#context.failed);
  }

  /**
   * Groups of the account have changed. A listener that depends on them hears nothing until the next `check` asks the
   * store what its user sees. Asking at once would cost a question for each of thousands of listeners with each change.
   */
  groupsChanged(): void {
    if (this.#lastScope?.all === true) return;
    this.#scope = undefined;
    this.#lastAsked++;
  }

  /**
   * The next events, about so many bytes of them. Rejects where a device's state must be read and can't: then it may be
   * tried again.
   */
  take(most: number): Taken | Promise<Taken> {
    const scope = this.#scope;
    if (scope === undefined) return nothing;
    const { feed } = this.#context;
    const { changes } = feed;
    if (this.#phase !== "present" && this.#position < changes.lost) this.#restart("missed");
    const frames = this.#first;
    this.#first = [];
    let bytes = 0;
    for (const change of this.#behind(scope)) {
      const frame = this.#eventOf(change, scope);
      if (frame === "unread") return frames.length > 0 ? { frames, more: true } : this.#read(scope);
      this.#position = change.seq;
      if (frame === undefined) continue;
      frames.push(this.#context.shown?.(frame, change.value.device) ?? frame);
      bytes += frame.length;
      if (bytes >= most) return { frames, more: true };
    }
    this.#position = changes.newest;
    if (this.#phase !== "live") frames.push(eventFrame("live", "{}", feed.cursor(this.#position)));
    this.#phase = "live";
    return { frames, more: false };
  }

  #judge(answer: User | ApiError): void {
    if (this.#closed) return;
    if (answer instanceof Error) this.#end(answer);
    else if (this.#asking === 0 && (answer !== this.#user || this.#scope === undefined))
      this.#look().catch(this.#context.failed);
  }

  /** Asks for the user and what it sees. The last question counts. */
  async #look(): Promise<void> {
    const asked = ++this.#lastAsked;
    this.#asking++;
    try {
      const user = await this.#context.authorize();
      const scope = user instanceof Error ? user : await this.#scopeOf(user);
      if (asked !== this.#lastAsked) return;
      if (user instanceof Error) return this.#end(user);
      if (scope instanceof Error) return this.#end(scope);
      this.#user = user;
      this.#see(scope);
    } finally {
      this.#asking--;
    }
  }

  #scopeOf(user: User): Promise<DeviceScope | ApiError> {
    return this.#context.scopeOf(user).catch((error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    });
  }

  #see(scope: DeviceScope): void {
    if (this.#closed) return;
    if (this.#lastScope !== undefined && !sameScope(this.#lastScope, scope)) this.#restart("visibility");
    this.#scope = scope;
    this.#lastScope = scope;
    this.#abouts = scope.ids.size > fewDevices ? undefined : [...aboutsOf(scope.ids)];
    this.#context.changed();
  }

  #end(error: ApiError): void {
    this.close();
    this.#ended = error;
    this.#context.changed();
  }

  #restart(reason: ResetReason): void {
    const { feed } = this.#context;
    this.#first = [eventFrame("reset", JSON.stringify({ reason }), feed.cursor(0))];
    this.#position = 0;
    this.#phase = "present";
    this.#places.fill(unknown);
  }

  /** The changes behind its place. Who sees few devices looks for theirs; the others read them all. */
  #behind({ all, ids }: DeviceScope): Iterable<Change<LiveChange>> {
    const { changes } = this.#context.feed;
    const few = !all && 2 * ids.size < changes.newest - this.#position;
    return few ? changes.some(this.#abouts ?? aboutsOf(ids), this.#position) : changes.after(this.#position);
  }

  /** The change as an event for it. Undefined: it is not for it; `unread`: its device's state must be read before. */
  #eventOf(change: Change<LiveChange>, scope: DeviceScope): Uint8Array | undefined | "unread" {
    const { feed, wanted } = this.#context;
    const { value } = change;
    const { device } = value;
    if (!scope.all && !scope.ids.has(device.id)) return undefined;
    if (value.kind === "location") return this.#placeOf(change);
    if (this.#phase === "present") return undefined;
    if (value.kind === "gone") return value.frame;
    if (!wanted.kinds.has(value.kind) || !feed.has(device)) return undefined;
    if (wanted.box !== undefined && this.#places[device.index] === outside) return undefined;
    const framed = feed.framed(change);
    return framed instanceof Promise ? "unread" : framed.frame;
  }

  /** Where a device is. In the present it tells also how it is connected, to those who want that alone. */
  #placeOf(change: Change<LiveChange>): Uint8Array | undefined | "unread" {
    const { feed, wanted } = this.#context;
    const { kinds, box } = wanted;
    const { device } = change.value;
    const statusAlone = !kinds.has("location");
    const silent = statusAlone && !(this.#phase === "present" && kinds.has("status"));
    if (silent && box === undefined) return undefined;
    const framed = feed.framed(change);
    if (framed instanceof Promise) return "unread";
    if (box !== undefined && !this.#isOrWasInside(box, device, framed)) return undefined;
    if (silent) return undefined;
    if (!statusAlone) return framed.frame;
    const data = `{"deviceId":${JSON.stringify(device.id)},"status":${framed.status}}`;
    return eventFrame("status", data, feed.cursor(change.seq));
  }

  /**
   * A device that leaves the box is told once more, so that nobody believes it there. So is one of which a resumed
   * listener may believe that.
   */
  #isOrWasInside(box: LiveBox, { index }: LiveDevice, { position }: Framed): boolean {
    if (index >= this.#places.length) {
      const more = new Uint8Array(2 * index + 64);
      more.set(this.#places);
      this.#places = more;
    }
    const before = this.#places[index];
    const isInside = position !== undefined && holdsPosition(box, position);
    this.#places[index] = isInside ? inside : outside;
    return isInside || before === inside || (before === unknown && this.#phase !== "present");
  }

  /** Reads the states that are needed next. */
  async #read(scope: DeviceScope): Promise<Taken> {
    const { feed } = this.#context;
    const { all, ids } = scope;
    const reads: Promise<Framed>[] = [];
    for (const change of this.#behind(scope)) {
      if (reads.length === readAhead) break;
      if (!all && !ids.has(change.value.device.id)) continue;
      const framed = feed.framed(change);
      if (framed instanceof Promise) reads.push(framed);
    }
    await Promise.all(reads);
    return readNow;
  }
}

function* aboutsOf(ids: ReadonlySet<string>): Generator<string, void, undefined> {
  for (const id of ids) {
    yield aboutDevice("location", id);
    yield aboutDevice("status", id);
  }
}
