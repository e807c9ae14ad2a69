/** One line of the recorded vectors (their README says what each field means). */
export interface RecordedLine {
  readonly unit: string;
  readonly seq: number;
  readonly role: "decoder" | "frame_decoder" | "encoder" | "frame_encoder";
  readonly kind: string;
  readonly encoding?: "hex" | "text" | "latin1" | "http" | "mqtt";
  readonly message?: string;
  readonly expected: Expected | null;
  readonly decoded?: readonly RecordedFix[];
  readonly replies?: readonly string[];
  readonly config?: RecordedConfig;
  readonly http?: RecordedRequest;
  readonly command?: {
    readonly type: string;
    readonly attributes: { readonly data?: string; readonly [name: string]: unknown };
  };
  readonly device_unique_id?: string;
}

/** A device model or option that was in force. */
export interface RecordedConfig {
  readonly modelOverride?: string;
  readonly form?: string;
  readonly format?: string;
}

/** What the suite's authors assert: one reading, the first position, or the bytes of a frame or a command. */
export interface Expected {
  readonly key?: string;
  readonly value?: string | number | boolean | RecordedNetwork | null;
  readonly time?: string;
  readonly valid?: boolean;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly encoding?: "hex" | "text" | "latin1";
  readonly message?: string;
}

/** The cells of a network, as an asserted value. */
export interface RecordedNetwork {
  readonly cellTowers?: readonly {
    readonly mcc: number;
    readonly mnc: number;
    readonly lac: number;
    readonly cid: number;
  }[];
}

/**
 * One entry of what the other server decoded. `noFix`: no position of its own. Speed in knots; an absent number is 0 or
 * not given.
 */
export interface RecordedFix {
  readonly noFix?: true;
  readonly time: string;
  readonly valid: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly altitude?: number;
  readonly speed?: number;
  readonly course?: number;
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
}

/** An HTTP request. */
export interface RecordedRequest {
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: { readonly message_hex?: string; readonly message: string };
}

/** The bytes of a line's message. */
export function messageBytes(line: RecordedLine): Uint8Array | undefined {
  if (line.http !== undefined) return requestBytes(line.http);
  return line.message === undefined ? undefined : textOrHex(line.encoding, line.message);
}

/** Bytes of a text or hex field. */
export function textOrHex(encoding: string | undefined, message: string): Uint8Array {
  if (encoding === "hex") return Uint8Array.fromHex(message);
  return encoding === "latin1" ? new Uint8Array(Buffer.from(message, "latin1")) : new TextEncoder().encode(message);
}

/** A recorded request as a client sends it, head and body. */
function requestBytes({ method, uri, headers, body }: RecordedRequest): Uint8Array {
  const content =
    body === undefined ? new Uint8Array(0) : textOrHex(body.message_hex && "hex", body.message_hex ?? body.message);
  const fields = [["Host", "localhost"], ...headers.filter(([name]) => name.toLowerCase() !== "content-length")];
  if (content.length > 0) fields.push(["Content-Length", String(content.length)]);
  const head = [`${method} ${uri} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`), "", ""].join(
    "\r\n",
  );
  return Uint8Array.of(...new TextEncoder().encode(head), ...content);
}
