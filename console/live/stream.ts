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

/** Follows the stream of the service until the answer is called. What was missed while the connection was lost, or the page was hidden, comes by the last event's id. */
export function follow(query: Readonly<Record<string, string>>, hearers: Hearers): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastEventId = "";
  let failures = 0;
  let ended = false;

  function open(): void {
    source?.close();
    const search = new URLSearchParams({ ...query, ...(lastEventId && { lastEventId }) });
    source = new EventSource(`/api/stream?${search}`);
    source.onopen = () => {
      failures = 0;
      hearers.state(true);
    };
    source.onerror = lost;
    for (const name of eventNames)
      source.addEventListener(name, (event) => {
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
    if (!ended) timer = setTimeout(open, waitMs(failures, Math.random()));
  }

  function shownOrHidden(): void {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => source?.close(), hiddenMs);
    else if (source?.readyState !== EventSource.OPEN) open();
  }

  open();
  document.addEventListener("visibilitychange", shownOrHidden);
  return () => {
    ended = true;
    document.removeEventListener("visibilitychange", shownOrHidden);
    source?.close();
    clearTimeout(timer);
  };
}
