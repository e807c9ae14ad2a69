import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

/** An event of a live stream. */
export interface StreamEvent {
  readonly id?: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every kind, and the OpenAPI check has looked before them
  readonly data: any;
}

/** The events of a text that ends with one; comments are left out. */
export function eventsOf(text: string): StreamEvent[] {
  return text.split("\n\n").flatMap((block) => {
    const fields = Object.fromEntries(
      block
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith(":"))
        .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
    );
    const { id, event, data } = fields;
    if (event === undefined || data === undefined) return [];
    return [{ ...(id !== undefined && { id }), event, data: JSON.parse(data) }];
  });
}

/** What a stream is asked with. */
export interface StreamAsk {
  readonly url: string;
  /** Absent: the headers say who asks. */
  readonly token?: string | undefined;
  /** `/api/stream` unless said. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Told of each piece of whole events as it came. */
  readonly check?: (answer: { status: number; contentType: string | undefined; body: string }) => void;
}

/** A client of the live stream that keeps what it was told. */
export class EventStream {
  readonly events: StreamEvent[] = [];
  /** What came that is no event: comments and ids. */
  readonly comments: string[] = [];
  readonly #answer: IncomingMessage;
  readonly #ask: StreamAsk;
  #rest = "";
  #read = 0;
  /** Resolves when the stream has ended. */
  readonly ended: Promise<unknown>;

  private constructor(answer: IncomingMessage, ask: StreamAsk) {
    this.#answer = answer;
    this.#ask = ask;
    this.ended = new Promise((resolve) => answer.once("close", resolve));
    answer.setEncoding("utf8");
    answer.on("error", () => {});
    answer.on("data", (text: string) => this.#take(text));
  }

  /** Opens a stream; fails where it is refused. */
  static async open(ask: StreamAsk): Promise<EventStream> {
    const { status, answer } = await EventStream.asked(ask);
    assert.equal(status, 200);
    return new EventStream(answer, ask);
  }

  /** Asks for a stream that may be refused. */
  static async asked({ url, token, path = "/api/stream", query = {}, headers = {} }: StreamAsk) {
    const asked = request(`${url}${path}?${new URLSearchParams(query)}`, {
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      agent: false,
    });
    asked.end();
    const [answer]: IncomingMessage[] = await once(asked, "response");
    assert.ok(answer);
    return { status: answer.statusCode, answer };
  }

  /** Id of the last event that has one. */
  get lastId(): string {
    return this.events.findLast(({ id }) => id !== undefined)?.id ?? "";
  }

  /** The next event of this kind; those before it are passed over. */
  async next(event: string): Promise<StreamEvent> {
    for (;;) {
      const at = this.events.findIndex((one, index) => index >= this.#read && one.event === event);
      const found = this.events[at];
      if (found !== undefined) {
        this.#read = at + 1;
        return found;
      }
      await once(this.#answer, "data");
    }
  }

  /** The events since the last that was asked for, up to the next of this kind. */
  async upTo(event: string): Promise<StreamEvent[]> {
    const from = this.#read;
    await this.next(event);
    return this.events.slice(from, this.#read);
  }

  /** Reads nothing from now on, or goes on. */
  pause(paused = true): void {
    if (paused) this.#answer.pause();
    else this.#answer.resume();
  }

  close(): void {
    this.#answer.destroy();
  }

  #take(text: string): void {
    const all = this.#rest + text;
    const end = all.lastIndexOf("\n\n") + 2;
    if (end < 2) {
      this.#rest = all;
      return;
    }
    this.#rest = all.slice(end);
    const body = all.slice(0, end);
    const { statusCode = 0, headers } = this.#answer;
    this.#ask.check?.({ status: statusCode, contentType: headers["content-type"], body });
    this.events.push(...eventsOf(body));
    this.comments.push(...body.split("\n\n").filter((block) => block.startsWith(":")));
  }
}
