import type { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import type { Bus, BusEvent } from "../../ports/bus.ts";
import type { Counter, Metrics } from "../../ports/metrics.ts";
import type { Presence } from "../../ports/presence.ts";
import { RecentMap } from "../../shares/recent-map.ts";
import type { Groups } from "../groups.ts";
import type { Visibility } from "../visibility.ts";
import type { Framed, LiveChange, ResetReason } from "./changes.ts";
import { AccountFeed, type FeedContext } from "./feed.ts";
import { Listener, type ListenerContext } from "./listener.ts";
import { scopeOf, type Wanted } from "./scope.ts";

/** What it needs of the service. */
export interface LiveContext extends Omit<FeedContext, "frames" | "changed" | "replaced"> {
  readonly presence: Pick<Presence, "contact" | "onChange">;
  readonly bus: Bus;
  readonly visibility: Visibility;
  readonly groups: Pick<Groups, "find">;
  readonly metrics: Pick<Metrics, "counter">;
}

/**
 * Time after the last listener of an account for which its changes are kept, ms: a client that lost its connection is
 * back much sooner.
 */
const keptMs = 600_000;
/** Events of positions that are kept, of all accounts, some 500 bytes each: more than change while listeners read. */
const keptFrames = 16_384;
/** Bytes of the alerts and commands that are kept for the listeners of all accounts. */
const mostBytes = 67_108_864;

/** Who wants to be told what, and from where on. */
export interface Wish {
  readonly user: User;
  readonly wanted: Wanted;
  /** The id of the event that it had last. */
  readonly lastEventId: string | undefined;
  /** The user, if it may still listen; else why not. */
  readonly authorize: () => User | ApiError | Promise<User | ApiError>;
  /** The devices that are told of, through the user's eyes; absent: what the user sees and wants. */
  readonly scopeOf?: ListenerContext["scopeOf"];
  /** What it gets of an event; absent: all of it. */
  readonly shown?: ListenerContext["shown"];
}

/**
 * Tells listeners what happens to devices, by what the bus says of commits. Only accounts that somebody listens to cost
 * anything.
 */
export class Live {
  readonly #context: LiveContext;
  readonly #feeds = new Map<number, AccountFeed>();
  /** Accounts that nobody listens to, and since when, monotonic ms. */
  readonly #left = new Map<number, number>();
  readonly #frames = new RecentMap<LiveChange, Framed>(keptFrames);
  readonly #replaced: Counter;
  readonly #unsubscribe: () => void;
  /** Called when there may be something to take. */
  onChange: () => void = () => {};

  constructor(context: LiveContext) {
    this.#context = context;
    this.#unsubscribe = context.bus.subscribe((event) => this.#hear(event));
    context.presence.onChange((id) => {
      for (const feed of this.#feeds.values()) feed.reachChanged(id);
    });
    const help = "States of devices that a newer one replaced before all streams had them.";
    this.#replaced = context.metrics.counter("waybeam_stream_states_replaced_total", help, [])({});
  }

  /**
   * Rejects with `StoreUnavailable` where the account's devices can't be read, and with an ApiError where nobody may
   * listen so.
   */
  async open({ user, wanted, lastEventId, authorize, shown, ...wish }: Wish): Promise<Listener> {
    const { visibility, groups, log } = this.#context;
    const feed = this.#feedOf(user.accountKey);
    const context = {
      ...{ feed, wanted, authorize, shown },
      scopeOf: wish.scopeOf ?? ((now: User) => scopeOf(now, wanted, visibility, groups)),
      changed: () => this.onChange(),
      failed: (error: unknown) => log.warn({ error, user: user.id }, "what a stream may tell could not be asked"),
    };
    const listener = new Listener(context, user);
    // From now on, so that it hears of changes of rights.
    feed.listeners.add(listener);
    try {
      await feed.load();
      await listener.begin(lastEventId === undefined ? undefined : placeOf(feed, lastEventId));
      if (listener.ended !== undefined) throw listener.ended;
    } catch (error) {
      this.close(user.accountKey, listener);
      throw error;
    }
    return listener;
  }

  close(accountKey: number, listener: Listener): void {
    listener.close();
    this.#feeds.get(accountKey)?.listeners.delete(listener);
  }

  /**
   * Once a second: asks for the rights of all listeners, tries again what failed, and forgets what nobody asks for any
   * longer.
   */
  look(): void {
    const now = this.#context.clock.monotonic();
    let bytes = 0;
    for (const [accountKey, feed] of this.#feeds) {
      feed.readDoubted();
      for (const listener of feed.listeners) listener.check();
      bytes += feed.changes.bytes;
      if (feed.listeners.size > 0) this.#left.delete(accountKey);
      else if (!this.#left.has(accountKey)) this.#left.set(accountKey, now);
    }
    for (const [accountKey, since] of this.#left)
      if (now - since >= keptMs) {
        this.#left.delete(accountKey);
        this.#feeds.delete(accountKey);
      }
    if (bytes > mostBytes) for (const feed of this.#feeds.values()) feed.changes.trim(mostBytes / this.#feeds.size);
  }

  /** The listeners were told what there was, as far as they read. */
  told(): void {
    for (const feed of this.#feeds.values()) {
      feed.readBy = feed.changes.newest;
      for (const { position } of feed.listeners) feed.readBy = Math.min(feed.readBy, position);
    }
  }

  stop(): void {
    this.#unsubscribe();
  }

  #feedOf(accountKey: number): AccountFeed {
    const present = this.#feeds.get(accountKey);
    if (present !== undefined) return present;
    const feed = new AccountFeed(accountKey, {
      ...this.#context,
      frames: this.#frames,
      changed: () => this.onChange(),
      replaced: () => this.#replaced.add(1),
    });
    this.#feeds.set(accountKey, feed);
    return feed;
  }

  #hear(event: BusEvent): void {
    if (this.#feeds.size === 0) return;
    switch (event.type) {
      case "committed":
        for (const one of event.devices) this.#feeds.get(one.device.accountKey)?.committed(one);
        break;
      case "alertsHandled":
        this.#feeds.get(event.accountKey)?.handled(event.ids);
        break;
      case "commandChanged":
        for (const feed of this.#feeds.values()) feed.command(event.command);
        break;
      case "deviceChanged":
        this.#feeds.get(event.accountKey)?.deviceChanged(event.id);
        break;
      case "groupChanged":
        for (const listener of this.#changeRights(event.accountKey)) listener.groupsChanged();
        break;
      case "userChanged":
        for (const listener of this.#changeRights(event.accountKey))
          if (listener.userKey === event.key) listener.doubt();
        break;
      default:
    }
  }

  /** What users of an account see may have changed: nobody resumes from before it. Gives who listens. */
  #changeRights(accountKey: number): Iterable<Listener> {
    const feed = this.#feeds.get(accountKey);
    if (feed === undefined) return [];
    feed.rightsAt = feed.changes.pass();
    return feed.listeners;
  }
}

/** Where a listener goes on that had this event last, or why it can't. */
function placeOf(feed: AccountFeed, lastEventId: string): number | ResetReason | undefined {
  const place = feed.placeOf(lastEventId);
  if (place === undefined) return "unknownId";
  if (place < feed.rightsAt) return "visibility";
  if (place < feed.changes.lost) return "missed";
  return place === 0 ? undefined : place;
}
