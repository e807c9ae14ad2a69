import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

const notFound = 3;

/**
 * A DNS server on loopback (RFC 1035): it answers for the names that it is told about, and is silent about all others.
 */
export class NameServer {
  /** Names with their IPv4 address; undefined: there is no such name. */
  readonly names = new Map<string, string | undefined>();
  /** Names that are never answered about IPv6. */
  readonly silentAboutV6 = new Set<string>();
  /** Names that it was asked for, in order, once for each question. */
  readonly asked: string[] = [];
  readonly #socket: Socket = createSocket("udp4");

  async listen(): Promise<void> {
    this.#socket.bind(0, "127.0.0.1");
    await once(this.#socket, "listening");
    this.#socket.on("message", (query, from) => {
      const answer = this.#answer(query);
      if (answer !== undefined) this.#socket.send(answer, from.port, from.address);
    });
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  /** Waits until it was asked for a number of different names. */
  async askedFor(count: number): Promise<void> {
    while (new Set(this.asked).size < count) await once(this.#socket, "message");
  }

  async close(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, "close");
  }

  #answer(query: Buffer): Buffer | undefined {
    const { name, end } = question(query);
    this.asked.push(name);
    if (!this.names.has(name)) return undefined;
    const isV4 = query.readUInt16BE(end - 4) === 1;
    if (!isV4 && this.silentAboutV6.has(name)) return undefined;
    const address = this.names.get(name);
    const head = Buffer.from(query.subarray(0, end));
    const answers = address !== undefined && isV4 ? 1 : 0;
    head.writeUInt16BE(0x8180 + (address === undefined ? notFound : 0), 2);
    // One question, the answers, and nothing of the query's further sections.
    for (const [index, count] of [1, answers, 0, 0].entries()) head.writeUInt16BE(count, 4 + index * 2);
    return answers === 0 ? head : Buffer.concat([head, record(address ?? "")]);
  }
}

/** The name that is asked for, and where the question ends. */
function question(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 5 };
}

/** An A record for the question's name, for a minute. */
function record(address: string): Buffer {
  return Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split(".").map(Number)]);
}
