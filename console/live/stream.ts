import { waitMs } from "./backoff.ts";
import { eventNames, type StreamEvents } from "./events.ts";

/** What hears the stream. */
export type Hearers = { readonly [K in keyof StreamEvents]: (data: StreamEvents[K]) => void } & {
  /** Something came, or the connection was lost. */
  readonly state: (isOpen: boolean) => void;
  /** The service refuses the stream: perhaps nobody is signed in any more. Resolves when it may be tried again. */
  readonly refused: () => Promise<void>;
};

/** A page that nobody looks at gives its connection back after this: over HTTP/1.1 a browser has six for all pages of a service. */
const hiddenMs = 60_000;

/** How often a silent stream is looked after, and for how long it may be silent. */
const lookMs = 15_000;
const silentMs = 30_000;
const answerMs = 10_000;

/** Follows the stream of the service until the answer is called. What was missed while the connection was lost, or the page was hidden, comes by the last event's id. */
export function follow(query: Readonly<Record<string, string>>, hearers: Hearers): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastEventId = "";
  let failures = 0;
  let ended = false;
  let heardAt = Date.now();

  function open(): void {
    source?.close();
    clearTimeout(timer);
    const search = new URLSearchParams({ ...query, ...(lastEventId && { lastEventId }) });
    source = new EventSource(`/api/stream?${search}`);
    source.onopen = () => {
      failures = 0;
      heardAt = Date.now();
      hearers.state(true);
    };
    source.onerror = lost;
    for (const name of eventNames)
      source.addEventListener(name, (event) => {
        heardAt = Date.now();
        lastEventId = event.lastEventId || lastEventId;
        tell(name, event.data);
      });
  }

  function tell<K extends keyof StreamEvents>(name: K, data: string): void {
    const { [name]: hear }: { readonly [N in K]: (data: StreamEvents[N]) => void } = hearers;
    hear(JSON.parse(data || "null"));
  }

  // The browser's own attempts know no back-off, and end where the service refuses: so each loss closes the source.
  async function lost(): Promise<void> {
    source?.close();
    hearers.state(false);
    failures += 1;
    await hearers.refused();
    clearTimeout(timer);
    if (!ended) timer = setTimeout(open, waitMs(failures, Math.random()));
  }

  // A network that fell silent ends no connection, and a page hears nothing of the stream's heartbeats: so it asks whether the service is there.
  async function look(): Promise<void> {
    if (document.hidden || source?.readyState !== EventSource.OPEN || Date.now() - heardAt < silentMs) return;
    heardAt = Date.now();
    if (!(await isThere())) await lost();
  }

  function shownOrHidden(): void {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => source?.close(), hiddenMs);
    else if (source?.readyState !== EventSource.OPEN) open();
  }

  open();
  const looking = setInterval(look, lookMs);
  document.addEventListener("visibilitychange", shownOrHidden);
  addEventListener("offline", lost);
  addEventListener("online", open);
  return () => {
    ended = true;
    clearInterval(looking);
    removeEventListener("offline", lost);
    removeEventListener("online", open);
    document.removeEventListener("visibilitychange", shownOrHidden);
    source?.close();
    clearTimeout(timer);
  };
}

async function isThere(): Promise<boolean> {
  const response = await fetch("/health/live", { signal: AbortSignal.timeout(answerMs) }).catch(() => undefined);
  return response?.ok === true;
}
