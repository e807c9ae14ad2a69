import type { Alarm } from "../model/alarms.ts";
import type { SpeedUnit } from "../model/device.ts";
import type { Effect } from "../model/effects.ts";
import type { ReadingName, Readings } from "../model/readings.ts";
import type { Framer } from "./framing.ts";

/** How a message reached the service. Over "http" a message is one whole HTTP/1.1 request, head and body. */
export type Transport = "tcp" | "udp" | "http";

/** How sure a protocol is that a connection speaks it. */
export type Certainty = "no" | "maybe" | "sure";

/** A document that a decoder follows, named so that a reader can find it and cite its pages. */
export interface Manual {
  readonly title: string;
  readonly version?: string;
}

/** What a handler may know beside the bytes and the session. */
export interface DecodeContext {
  /** Arrival, epoch ms. */
  readonly receivedAt: number;
  readonly transport: Transport;
  /**
   * The connection's device is known: its identifiers were given by an earlier message, or the caller vouches for it.
   */
  readonly identified: boolean;
  readonly options: DecodeOptions;
}

/** Per-device or per-installation settings that change how bytes are read. */
export interface DecodeOptions {
  /** Model of the tracker where the protocol's variants can't be told from the bytes. */
  readonly model?: string;
  /**
   * How the tracker was configured to write its messages, where the bytes do not say that (the device's tag `format`).
   */
  readonly format?: string;
  /** The device's maker never learned to sum: messages are taken whatever their checksum says. */
  readonly checksums?: "ignore";
}

/** What a handler answers: the session after the message, and what is to be done. */
export interface Decoded<S> {
  readonly session: S;
  readonly effects: readonly Effect[];
}

/** One kind of message. A variant is another row, not an `if` in a handler. Rows are tried in order. */
export interface MessageRow<S> {
  /** The manual's name of the message; unique within its protocol. The contract suite asks a vector of each. */
  readonly name: string;
  /** Keys (see `Protocol.classify`) this row is for; absent: any. */
  readonly keys?: readonly MessageKey[];
  /** Further condition, for variants that share a key. */
  readonly when?: (frame: Uint8Array, session: S, context: DecodeContext) => boolean;
  readonly handle: (frame: Uint8Array, session: S, context: DecodeContext) => Decoded<S>;
}

/** What tells messages apart: a type byte, a sentence name. */
export type MessageKey = number | string;

/** A command that a protocol can wrap as its manual says. */
export interface CommandForm<S> {
  readonly name: string;
  /**
   * Bytes for a command text; a sentence saying why not, where the text can't be carried (delimiters, length). `mark`
   * is a number from 1 to 2^32-1 that no command before had (0: none), for protocols whose commands have a place for
   * one and whose replies repeat it.
   */
  readonly encode: (
    text: string,
    session: S,
    device: string,
    mark: number,
  ) => Uint8Array | { readonly refused: string };
}

/**
 * What a tracker answers to bytes: nothing that is a command's result, or a result that calls its command so
 * (`CommandResult.to`); without a name replies come in the order of the commands.
 */
export type ExpectedReply = "nothing" | { readonly name?: string };

/** What the simulator lets a device say. */
export interface SimulatedReport {
  readonly time: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly altitude: number;
  readonly speed: number;
  readonly course: number;
  readonly satellites: number;
  readonly ignition: boolean;
  readonly battery: number;
  /**
   * Further readings of a story, of which a protocol sends those that it `carries`; they count before what a simulated
   * device says by itself.
   */
  readonly readings?: Readings;
  /** What made the device report. */
  readonly alarm?: Alarm;
}

/**
 * The device's side of a protocol: the same code lets the simulator speak it and proves decode(encode(x)) = x.
 * All functions are pure; `serial` counts the messages of the connection.
 */
export interface SimulatedDevice {
  /** Further readings and the alarms that its reports can hold; absent: none. */
  readonly carries?: { readonly readings: readonly ReadingName[]; readonly alarms: readonly Alarm[] };
  /** What the device sends first to say who it is; absent where each message says so. */
  readonly login?: (device: string, serial: number) => Uint8Array;
  readonly report: (device: string, reports: readonly SimulatedReport[], serial: number) => Uint8Array;
  /**
   * Reads the server's bytes: how many bytes one answer takes, and how many reports (or 0 for a login) it acknowledges.
   * "more": not whole yet. A protocol that acknowledges no reports leaves `answer` out.
   */
  readonly answer?: (
    bytes: Uint8Array,
  ) => "more" | { readonly length: number; readonly accepted: boolean; readonly reports: number };
  /**
   * What the device answers to a whole message of the server that is a command: that it did what the text says.
   * Undefined: it is none.
   */
  readonly obey?: (message: Uint8Array, device: string, serial: number) => Uint8Array | undefined;
}

/** Where a protocol's messages carry the password or key of their device. */
export interface SecretPlace {
  /** The place in words, for the documentation: `the parameter "secret"`. */
  readonly where: string;
  /**
   * The message as people may see it: as long as it was, with asterisks in place of the secret. What is given is not
   * changed.
   */
  readonly mask: (message: Uint8Array) => Uint8Array;
}

/**
 * A protocol module: pure bytes and session in, session and effects out. No I/O, clock, configuration or log.
 * The initial session is frozen; a handler returns the next one and changes nothing that it got.
 */
export interface Protocol<S = unknown> {
  /** File name and the name in the API, the metrics and the command line. */
  readonly id: string;
  readonly title: string;
  readonly transports: readonly Transport[];
  /** The port that vendors' documents usually give. */
  readonly defaultPort: number;
  readonly manuals: readonly Manual[];
  /**
   * Recognises a connection by its first bytes (at most a few hundred; perhaps only one); over http, one whole request.
   */
  readonly detect: (bytes: Uint8Array, transport: Transport) => Certainty;
  /**
   * Cuts a byte stream into messages. Not used for http, whose requests are cut by the service, nor for udp (see
   * `datagram`).
   */
  readonly framer: Framer;
  /** Cuts a datagram into messages, where one may hold several. Absent: a datagram is one message. */
  readonly datagram?: Framer;
  /**
   * What its manual's numbers of speed mean; absent: km/h. A device that means something else by them says so
   * (`Device.speedUnit`).
   */
  readonly speedUnit?: SpeedUnit;
  /** Where its messages carry a password or key (`Identify.secret`); absent: they carry none. */
  readonly secret?: SecretPlace;
  readonly session: S;
  /** The key of a whole frame for the table of messages; a frame that can't be keyed is a failure. */
  readonly classify: (frame: Uint8Array) => MessageKey | undefined;
  readonly messages: readonly MessageRow<S>[];
  /** Messages of the manuals that no row decodes, by the manual's name, for the documentation. Absent: none. */
  readonly notUnderstood?: readonly string[];
  readonly commands?: readonly CommandForm<S>[];
  /**
   * What is answered to bytes that were written, by a form of `commands` or by hand. Absent: any bytes may be answered,
   * without a name.
   */
  readonly expects?: (bytes: Uint8Array) => ExpectedReply;
  readonly simulate?: SimulatedDevice;
}

/** A protocol as the rest of the program sees it: sessions are opaque. */
export interface AnyProtocol {
  readonly id: string;
  readonly title: string;
  readonly transports: readonly Transport[];
  readonly defaultPort: number;
  readonly manuals: readonly Manual[];
  readonly detect: (bytes: Uint8Array, transport: Transport) => Certainty;
  readonly framer: Framer;
  readonly datagram?: Framer;
  readonly secret?: SecretPlace;
  readonly speedUnit?: SpeedUnit;
  readonly messageNames: readonly string[];
  readonly notUnderstood: readonly string[];
  readonly commandNames: readonly string[];
  readonly expects: (bytes: Uint8Array) => ExpectedReply;
  readonly simulate?: SimulatedDevice;
  /** A decoder for one connection, which holds that connection's session. */
  readonly connect: () => Connection;
}

/** One connection's decoder. */
export interface Connection {
  /** Decodes one whole message. Never throws. `again`: the last one, in another context; it counts once. */
  decode(frame: Uint8Array, context: DecodeContext, again?: boolean): readonly Effect[];
  /** Name of the table row that handled the last message, for tests and the trace; undefined where none did. */
  readonly lastRow: string | undefined;
  /**
   * What the row's handler threw at the last message, which was answered as malformed: for the fuzzer, which tells a
   * defect from a message that is cut short.
   */
  readonly lastError: unknown;
  /**
   * Wraps a command's text as the protocol's first form that takes it. Undefined: the protocol knows no form. `mark`:
   * see `CommandForm.encode`.
   */
  command(text: string, device: string, mark: number): Uint8Array | { readonly refused: string } | undefined;
}

/**
 * Seals a protocol's definition: checks that row names are unique, indexes its table by key, hides the session's type.
 * A handler that throws (a defect, or a reader past the end) is answered as a malformed message, and the session stays.
 */
export function defineProtocol<S>(protocol: Protocol<S>): AnyProtocol {
  const names = new Set([...protocol.messages.map((row) => row.name), ...(protocol.notUnderstood ?? [])]);
  if (names.size !== protocol.messages.length + (protocol.notUnderstood?.length ?? 0))
    throw new Error(`protocol ${protocol.id}: two messages share a name`);
  const table = indexRows(protocol.messages);
  const anyKey = protocol.messages.filter((row) => row.keys === undefined);
  return Object.freeze({
    id: protocol.id,
    title: protocol.title,
    transports: protocol.transports,
    defaultPort: protocol.defaultPort,
    manuals: protocol.manuals,
    detect: protocol.detect,
    framer: protocol.framer,
    ...(protocol.datagram && { datagram: protocol.datagram }),
    ...(protocol.secret && { secret: protocol.secret }),
    ...(protocol.speedUnit && { speedUnit: protocol.speedUnit }),
    messageNames: protocol.messages.map((row) => row.name),
    notUnderstood: protocol.notUnderstood ?? [],
    commandNames: (protocol.commands ?? []).map((form) => form.name),
    expects: protocol.expects ?? (() => (protocol.commands === undefined ? "nothing" : anyReply)),
    ...(protocol.simulate && { simulate: protocol.simulate }),
    connect: () => new ProtocolConnection(protocol, table, anyKey),
  });
}

function indexRows<S>(rows: readonly MessageRow<S>[]): ReadonlyMap<MessageKey, readonly MessageRow<S>[]> {
  const table = new Map<MessageKey, MessageRow<S>[]>();
  for (const key of new Set(rows.flatMap((row) => row.keys ?? [])))
    table.set(
      key,
      rows.filter((row) => row.keys === undefined || row.keys.includes(key)),
    );
  return table;
}

const anyReply: ExpectedReply = Object.freeze({});
const malformed: readonly Effect[] = Object.freeze([Object.freeze({ type: "failure", cause: "malformed" })]);
const unsupported: readonly Effect[] = Object.freeze([Object.freeze({ type: "failure", cause: "unsupported" })]);

class ProtocolConnection<S> implements Connection {
  lastRow: string | undefined;
  lastError: unknown;
  #session: S;
  /** The session before the last message. */
  #before: S;
  readonly #protocol: Protocol<S>;
  readonly #table: ReadonlyMap<MessageKey, readonly MessageRow<S>[]>;
  readonly #anyKey: readonly MessageRow<S>[];

  constructor(
    protocol: Protocol<S>,
    table: ReadonlyMap<MessageKey, readonly MessageRow<S>[]>,
    anyKey: readonly MessageRow<S>[],
  ) {
    this.#protocol = protocol;
    this.#table = table;
    this.#anyKey = anyKey;
    this.#session = this.#before = protocol.session;
  }

  decode(frame: Uint8Array, context: DecodeContext, again = false): readonly Effect[] {
    if (again) this.#session = this.#before;
    this.#before = this.#session;
    this.lastRow = undefined;
    this.lastError = undefined;
    try {
      const key = this.#protocol.classify(frame);
      if (key === undefined) return malformed;
      for (const row of this.#table.get(key) ?? this.#anyKey) {
        if (row.when !== undefined && !row.when(frame, this.#session, context)) continue;
        this.lastRow = row.name;
        const decoded = row.handle(frame, this.#session, context);
        this.#session = decoded.session;
        return decoded.effects;
      }
      return unsupported;
    } catch (error) {
      this.lastError = error;
      // Reading past the end of a frame is the usual cause; a frame that a decoder can't finish is malformed, whatever
      // the reason.
      return malformed;
    }
  }

  command(text: string, device: string, mark: number): Uint8Array | { readonly refused: string } | undefined {
    let refused: { readonly refused: string } | undefined;
    for (const form of this.#protocol.commands ?? []) {
      const encoded = form.encode(text, this.#session, device, mark);
      if (encoded instanceof Uint8Array) return encoded;
      refused ??= encoded;
    }
    return refused;
  }
}
