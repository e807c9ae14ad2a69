import type { StreamEvents } from "./events.ts";
import { follow, type StreamHearer, type StreamPlace } from "./stream.ts";

/** What one tab knows, for another that comes later. */
export interface TabState<P> {
  /** All that was heard so far. */
  readonly present: () => P;
  readonly take: (present: P) => void;
}

/** What tabs tell each other. The one that leads has the stream. */
type Told<P> =
  /** A tab has come, or is looked at again. `isNew`: it knows nothing yet. */
  | { readonly kind: "hello"; readonly tab: string; readonly isNew: boolean }
  | { readonly kind: "bye"; readonly tab: string }
  /** A tab leads from now on, and wants to know who is there. */
  | { readonly kind: "leads" }
  /** The answer of the one that leads. */
  | {
      readonly kind: "here";
      readonly tab: string;
      readonly isOpen: boolean;
      readonly lastEventId: string;
      readonly present?: P;
    }
  | {
      readonly kind: "event";
      readonly name: keyof StreamEvents;
      readonly data: string;
      readonly lastEventId: string;
    }
  /** `isSeen`: somebody looks at the tab that leads. */
  | { readonly kind: "state"; readonly isOpen: boolean; readonly isSeen: boolean };

/** The one that leads answers in this time, or is asleep, and another leads in its place. */
const answerMs = 3000;
/** A tab that nobody looks at gives its connection back after this, where tabs can't share one. */
const hiddenMs = 5000;

/**
 * Follows the stream, once for all tabs of a browser: over HTTP/1.1 a browser has six connections for all pages of a
 * service, and a stream holds one of them. A lock says which tab leads; when it goes, the next one goes on where it
 * ended. Locks are for secure pages (HTTPS, or this machine's own); elsewhere each tab has a stream of its own while
 * somebody looks at it. `name`: of the person, whose tabs these are.
 */
export function followTogether<P>(name: string, hearer: StreamHearer, state: TabState<P>): () => void {
  // Browsers have no locks in a page that came by plain HTTP, although the type says so.
  const locks: LockManager | undefined = navigator.locks;
  if (locks === undefined) return followWhileSeen(hearer);
  const tab = new StreamTab(`waybeam.stream.${name}`, locks, hearer, state);
  tab.start();
  return () => tab.stop();
}

function followWhileSeen(hearer: StreamHearer): () => void {
  const place: StreamPlace = { lastEventId: "" };
  let unfollow: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  function look(): void {
    clearTimeout(timer);
    if (!document.hidden) unfollow ??= follow(place, hearer);
    else
      timer = setTimeout(() => {
        unfollow?.();
        unfollow = undefined;
      }, hiddenMs);
  }
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    document.removeEventListener("visibilitychange", look);
    clearTimeout(timer);
    unfollow?.();
  };
}

class StreamTab<P> {
  readonly #id: string = crypto.randomUUID();
  readonly #name: string;
  readonly #locks: LockManager;
  readonly #hearer: StreamHearer;
  readonly #state: TabState<P>;
  readonly #channel: BroadcastChannel;
  readonly #place: StreamPlace = { lastEventId: "" };
  /** Other tabs, as far as the one that leads knows. */
  readonly #others = new Set<string>();
  /** Of the stream; undefined: another tab leads. */
  #unfollow: (() => void) | undefined;
  #release: (() => void) | undefined;
  #waiting = new AbortController();
  #isOpen = false;
  #ended = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(name: string, locks: LockManager, hearer: StreamHearer, state: TabState<P>) {
    this.#name = name;
    this.#locks = locks;
    this.#hearer = hearer;
    this.#state = state;
    this.#channel = new BroadcastChannel(name);
  }

  start(): void {
    this.#channel.onmessage = ({ data }: MessageEvent<Told<P>>) => this.#hear(data);
    document.addEventListener("visibilitychange", this.#seen);
    addEventListener("pagehide", this.#gone);
    this.#wait();
    this.#ask(true);
  }

  stop(): void {
    this.#ended = true;
    this.#gone();
    document.removeEventListener("visibilitychange", this.#seen);
    removeEventListener("pagehide", this.#gone);
    clearTimeout(this.#timer);
    this.#waiting.abort();
    this.#release?.();
    this.#unfollow?.();
    this.#channel.close();
  }

  readonly #seen = (): void => {
    if (!document.hidden && this.#unfollow === undefined) this.#ask(false);
  };
  readonly #gone = (): void => this.#post({ kind: "bye", tab: this.#id });

  #post(told: Told<P>): void {
    this.#channel.postMessage(told);
  }

  /** Asks the one that leads. Where it does not answer a tab that is looked at, that one leads. */
  #ask(isNew: boolean): void {
    this.#post({ kind: "hello", tab: this.#id, isNew });
    this.#leadSoonUnless(() => false);
  }

  #leadSoonUnless(isWell: () => boolean): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.#ended && this.#unfollow === undefined && !document.hidden && !isWell()) this.#takeOver();
    }, answerMs);
  }

  /** Leads when no other tab does. */
  #wait(): void {
    this.#waiting = new AbortController();
    this.#lead({ signal: this.#waiting.signal });
  }

  #takeOver(): void {
    this.#waiting.abort();
    this.#lead({ steal: true });
  }

  async #lead(options: LockOptions): Promise<void> {
    let held = false;
    const hold = () => {
      held = true;
      return this.#hold();
    };
    await this.#locks.request(this.#name, options, hold).catch(() => undefined);
    // Another tab has taken over, or this one does so by a request of its own.
    if (!held || this.#ended) return;
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#others.clear();
    this.#wait();
    this.#ask(false);
  }

  #hold(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#release = resolve;
    this.#post({ kind: "leads" });
    this.#unfollow = follow(this.#place, {
      ...this.#hearer,
      told: (name, data) => {
        this.#hearer.told(name, data);
        const { lastEventId } = this.#place;
        if (this.#others.size > 0) this.#post({ kind: "event", name, data, lastEventId });
      },
      state: (isOpen) => {
        this.#isOpen = isOpen;
        this.#hearer.state(isOpen);
        this.#post({ kind: "state", isOpen, isSeen: !document.hidden });
      },
    });
    return promise;
  }

  #hear(told: Told<P>): void {
    if (this.#unfollow === undefined) this.#follow(told);
    else if (told.kind === "bye") this.#others.delete(told.tab);
    else if (told.kind === "hello") {
      this.#others.add(told.tab);
      const { lastEventId } = this.#place;
      const present = told.isNew ? { present: this.#state.present() } : {};
      this.#post({ kind: "here", tab: told.tab, isOpen: this.#isOpen, lastEventId, ...present });
    }
  }

  /** What the one that leads has told. */
  #follow(told: Told<P>): void {
    switch (told.kind) {
      case "leads":
        this.#post({ kind: "hello", tab: this.#id, isNew: false });
        break;
      case "here":
        if (told.tab === this.#id) this.#answered(told);
        break;
      case "event":
        this.#place.lastEventId = told.lastEventId;
        this.#hearer.told(told.name, told.data);
        break;
      case "state":
        this.#isOpen = told.isOpen;
        this.#hearer.state(told.isOpen);
        // Timers of a tab that nobody looks at are slow, and nobody signs in there.
        if (!told.isOpen && !told.isSeen) this.#leadSoonUnless(() => this.#isOpen);
        break;
    }
  }

  #answered({ isOpen, lastEventId, present }: Told<P> & { readonly kind: "here" }): void {
    clearTimeout(this.#timer);
    this.#isOpen = isOpen;
    this.#hearer.state(isOpen);
    // Messages keep their order: a tab that was asleep has missed some.
    if (present === undefined && lastEventId !== this.#place.lastEventId) this.#ask(true);
    this.#place.lastEventId = lastEventId;
    if (present !== undefined) this.#state.take(present);
    if (!isOpen) this.#leadSoonUnless(() => this.#isOpen);
  }
}
