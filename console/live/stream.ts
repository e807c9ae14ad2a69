import { waitMs } from "./backoff.ts";
import { eventNames, type StreamEvents } from "./events.ts";

/** What hears the stream. */
export interface StreamHearer {
  /** An event, as it was sent. */
  readonly told: (name: keyof StreamEvents, data: string) => void;
  /** Something came, or the connection was lost. */
  readonly state: (isOpen: boolean) => void;
  /** The service refuses the stream: perhaps nobody is signed in any more. Resolves when it may be tried again. */
  readonly refused: () => Promise<void>;
}

/** How far the stream was heard. */
export interface StreamPlace {
  lastEventId: string;
}

/** How often a silent stream is looked after, and for how long it may be silent. */
const lookMs = 15_000;
const silentMs = 30_000;
const answerMs = 10_000;

/**
 * Follows the stream of the service, from a place on, until the answer is called. What was missed while the connection
 * was lost comes by the last event's id.
 */
export function follow(place: StreamPlace, hearer: StreamHearer): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let ended = false;
  let heardAt = Date.now();

  function open(): void {
    source?.close();
    clearTimeout(timer);
    const { lastEventId } = place;
    source = new EventSource(`/api/stream?${new URLSearchParams(lastEventId === "" ? {} : { lastEventId })}`);
    source.onopen = () => {
      failures = 0;
      heardAt = Date.now();
      hearer.state(true);
    };
    source.onerror = lost;
    for (const name of eventNames)
      source.addEventListener(name, (event) => {
        heardAt = Date.now();
        place.lastEventId = event.lastEventId || place.lastEventId;
        hearer.told(name, event.data);
      });
  }

  // The browser's own attempts know no back-off, and end where the service refuses: so each loss closes the source.
  async function lost(): Promise<void> {
    source?.close();
    hearer.state(false);
    failures += 1;
    await hearer.refused();
    clearTimeout(timer);
    if (!ended) timer = setTimeout(open, waitMs(failures, Math.random()));
  }

  // A network that fell silent ends no connection, and a page hears nothing of the stream's heartbeats: so it asks
  // whether the service is there.
  async function look(): Promise<void> {
    if (source?.readyState !== EventSource.OPEN || Date.now() - heardAt < silentMs) return;
    heardAt = Date.now();
    if (!(await isThere()) && !ended) await lost();
  }

  open();
  const looking = setInterval(look, lookMs);
  addEventListener("offline", lost);
  addEventListener("online", open);
  return () => {
    ended = true;
    clearInterval(looking);
    removeEventListener("offline", lost);
    removeEventListener("online", open);
    source?.close();
    clearTimeout(timer);
  };
}

async function isThere(): Promise<boolean> {
  const response = await fetch("/health/live", { signal: AbortSignal.timeout(answerMs) }).catch(() => undefined);
  return response?.ok === true;
}
