/** An event of a stream, as it was sent. */
export interface SentEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Reads the events of a stream that comes in pieces. */
export class EventReader {
  #rest = "";

  /** The events that are whole with this piece. */
  take(piece: string): readonly SentEvent[] {
    const blocks = (this.#rest + piece).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const fields = new Map(
        block
          .split("\n")
          .filter((line) => line !== "" && !line.startsWith(":"))
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]),
      );
      const event = fields.get("event");
      return event === undefined ? [] : [{ id: fields.get("id"), event, data: fields.get("data") ?? "null" }];
    });
  }
}
