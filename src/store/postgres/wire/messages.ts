import type { Value } from "./values.ts";

/*
 * Messages of the extended query protocol (https://www.postgresql.org/docs/current/protocol-message-formats.html).
 */

/** A statement that a session prepares when it first needs it. The SQL itself gives the types of parameters (`$1::bigint`). */
export interface Statement {
  readonly name: string;
  readonly sql: string;
}

/** A statement with its parameters. */
export interface Step {
  readonly statement: Statement;
  readonly values: readonly Value[];
}

const binary = 1;

/** A text as bytes that a zero ends. */
function sizeOf(value: string): number {
  return Buffer.byteLength(value) + 1;
}

class Writer {
  readonly bytes: Buffer<ArrayBuffer>;
  #at = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  begin(kind: string, size: number): void {
    this.#at = this.bytes.writeUInt8(kind.charCodeAt(0), this.#at);
    this.int32(size);
  }

  int16(value: number): void {
    this.#at = this.bytes.writeInt16BE(value, this.#at);
  }

  int32(value: number): void {
    this.#at = this.bytes.writeInt32BE(value, this.#at);
  }

  text(value: string): void {
    this.#at += this.bytes.write(value, this.#at);
    this.#at = this.bytes.writeUInt8(0, this.#at);
  }

  value(value: Value): void {
    this.int32(value.size);
    value.write(this.bytes, this.#at);
    this.#at += value.size;
  }
}

function parseSize({ name, sql }: Statement): number {
  return 4 + sizeOf(name) + sizeOf(sql) + 2;
}

function bindSize({ statement, values }: Step): number {
  return values.reduce((sum, { size }) => sum + 4 + size, 4 + 1 + sizeOf(statement.name) + 4 + 2 + 4);
}

const executeSize = 9;
const syncSize = 4;

/**
 * The messages that run statements one after the other, in one transaction unless they begin their own. `toPrepare`: those among them that the session has not prepared yet. They are
 * prepared before any is run, so that a statement that fails leaves none unprepared.
 */
export function pipelineOf(steps: readonly Step[], toPrepare: readonly Statement[]): Buffer<ArrayBuffer> {
  let size = 1 + syncSize;
  for (const statement of toPrepare) size += 1 + parseSize(statement);
  for (const step of steps) size += 1 + bindSize(step) + 1 + executeSize;
  const writer = new Writer(size);
  for (const statement of toPrepare) {
    writer.begin("P", parseSize(statement));
    writer.text(statement.name);
    writer.text(statement.sql);
    writer.int16(0);
  }
  for (const step of steps) {
    writer.begin("B", bindSize(step));
    writer.text("");
    writer.text(step.statement.name);
    writer.int16(1);
    writer.int16(binary);
    writer.int16(step.values.length);
    for (const value of step.values) writer.value(value);
    writer.int16(1);
    writer.int16(binary);
    writer.begin("E", executeSize);
    writer.text("");
    writer.int32(0);
  }
  writer.begin("S", syncSize);
  return writer.bytes;
}

/** The least length of a message: the length field counts itself. */
const leastSize = 4;

/** Splits a server's bytes into messages, however TCP cuts them. */
export class Messages {
  readonly #told: (kind: string, body: Buffer) => void;
  #pieces: Buffer[] = [];
  #size = 0;
  /** Bytes that must be there before the next message can be read. */
  #needed = 5;

  constructor(told: (kind: string, body: Buffer) => void) {
    this.#told = told;
  }

  /** Throws on a message with an impossible length: nothing after it can be read. */
  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#size += piece.length;
    // A message of megabytes comes in hundreds of pieces, which are concatenated once.
    if (this.#size < this.#needed) return;
    const bytes = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    let at = 0;
    this.#needed = 5;
    while (bytes.length - at >= 5) {
      const size = bytes.readInt32BE(at + 1);
      if (size < leastSize)
        throw new RangeError(
          `the server sent a message with the impossible length ${size}: look whether a proxy or pooler damages what it passes on`,
        );
      const end = at + 1 + size;
      if (end > bytes.length) {
        this.#needed = end - at;
        break;
      }
      this.#told(String.fromCharCode(bytes[at] ?? 0), bytes.subarray(at + 5, end));
      at = end;
    }
    this.#pieces = at < bytes.length ? [bytes.subarray(at)] : [];
    this.#size = bytes.length - at;
  }
}

/** The fields of an error or a notice by their letters: C is the SQLSTATE, M the message, V the severity. */
export function fieldsOf(body: Buffer): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const field of body.toString("utf8").split("\0")) if (field !== "") fields.set(field[0] ?? "", field.slice(1));
  return fields;
}
