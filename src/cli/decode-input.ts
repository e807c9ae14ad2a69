import type { DecodeOptions, Transport } from "../wire/protocol.ts";
import { bytesOfHex } from "../wire/reader.ts";

/** One recorded connection, as `waybeam decode` reads it from a line. */
export interface DecodeInput {
  /** Absent: to be detected. */
  readonly protocol?: string;
  /** Absent: to be detected. */
  readonly transport?: Transport;
  readonly messages: readonly Uint8Array[];
  /** The messages are pieces of a stream, cut anywhere, and not whole messages. */
  readonly chunks: boolean;
  /** Present: the connection counts as identified. */
  readonly device?: string;
  readonly options: DecodeOptions;
  /** Arrival of every message, epoch ms; absent where the line does not say. */
  readonly receivedAt?: number;
}

/** Why a line can't be read. */
export class InputError extends Error {
  override readonly name = "InputError";
}

const transports: readonly Transport[] = ["tcp", "udp", "http"];

type Fields = { readonly [field: string]: unknown };

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === "string") return value;
  throw new InputError(`"${name}" must be a string`);
}

function transportOf(fields: Fields): Transport | undefined {
  const text = optionalText(fields, "transport");
  if (text === undefined) return undefined;
  const transport = transports.find((known) => known === text);
  if (transport === undefined) throw new InputError(`"transport" must be one of ${transports.join(", ")}`);
  return transport;
}

/** Bytes of one message: hex, {"text": ...} (UTF-8), or over http the request's text as it stands. */
function messageOf(value: unknown, index: number, transport: Transport | undefined): Uint8Array {
  if (typeof value === "string") {
    const bytes = bytesOfHex(value.replaceAll(" ", ""));
    if (bytes !== undefined) return bytes;
    // No request is valid hex: its first line has a blank and a slash.
    if (transport === "http") return new TextEncoder().encode(value);
  } else if (isFields(value) && typeof value.text === "string") return new TextEncoder().encode(value.text);
  throw new InputError(`message ${index + 1} must be hex or {"text": "..."}`);
}

/**
 * The input that a parsed line holds; other fields are left alone, so that a vector is an input too. Throws InputError.
 */
export function decodeInputOf(value: unknown): DecodeInput {
  if (!isFields(value)) throw new InputError("not a JSON object");
  const { messages, chunks, options } = value;
  if (!Array.isArray(messages)) throw new InputError('"messages" must be a list');
  if (chunks !== undefined && typeof chunks !== "boolean") throw new InputError('"chunks" must be true or false');
  if (options !== undefined && !isFields(options)) throw new InputError('"options" must be an object');
  const transport = transportOf(value);
  const protocol = optionalText(value, "protocol");
  const device = optionalText(value, "device");
  const model = optionalText(options ?? {}, "model");
  const format = optionalText(options ?? {}, "format");
  const checksums = optionalText(options ?? {}, "checksums");
  if (checksums !== undefined && checksums !== "ignore") throw new InputError('"checksums" must be "ignore"');
  const arrival = optionalText(value, "receivedAt");
  const receivedAt = arrival === undefined ? undefined : Date.parse(arrival);
  if (Number.isNaN(receivedAt)) throw new InputError('"receivedAt" must be a time as in RFC 3339');
  return {
    ...(protocol !== undefined && { protocol }),
    ...(transport !== undefined && { transport }),
    messages: messages.map((message, index) => messageOf(message, index, transport)),
    chunks: chunks ?? false,
    ...(device !== undefined && { device }),
    options: {
      ...(model !== undefined && { model }),
      ...(format !== undefined && { format }),
      ...(checksums !== undefined && { checksums }),
    },
    ...(receivedAt !== undefined && { receivedAt }),
  };
}
