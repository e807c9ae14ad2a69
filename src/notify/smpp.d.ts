/** What we use of the `smpp` package, which brings no types. Fields are named as in SMPP 3.4. */
declare module "smpp" {
  import type { EventEmitter } from "node:events";

  /** One protocol data unit. What came from the peer holds only the fields that it sent. */
  export interface Pdu {
    readonly command: string;
    readonly command_status: number;
    sequence_number: number;
    readonly message_id?: string;
    readonly esm_class?: number;
    readonly short_message?: unknown;
    readonly message_payload?: unknown;
    readonly receipted_message_id?: string;
    readonly message_state?: number;
    readonly [field: string]: unknown;
    isResponse(): boolean;
    response(fields?: Readonly<Record<string, unknown>>): Pdu;
  }

  /** One connection. Events: connect, secureConnect, pdu, error, close. */
  export interface Session extends EventEmitter {
    readonly socket: { write(bytes: Uint8Array): void };
    /** False: the socket can't be written. Sets the sequence number of a request. */
    send(pdu: Pdu): boolean;
    close(): void;
    destroy(): void;
  }

  /** A listening server: one of node:net. */
  export interface Server extends EventEmitter {
    readonly listening: boolean;
    listen(port: number, host: string): void;
    address(): unknown;
    close(): void;
  }

  /** A type of a field as it is on the wire. `filter` makes other values of it. */
  interface Field {
    filter?: unknown;
  }

  const smpp: {
    readonly connect: (options: {
      readonly host: string;
      readonly port: number;
      readonly tls: boolean;
      readonly servername?: string;
    }) => Session;
    readonly createServer: (listener: (session: Session) => void) => Server;
    readonly PDU: new (command: string, fields?: Readonly<Record<string, unknown>>) => Pdu;
    readonly errors: Readonly<Record<string, number>>;
    readonly commands: Readonly<Record<string, { readonly params?: Readonly<Record<string, Field>> }>>;
    readonly tlvs: Readonly<Record<string, Field>>;
    readonly gsmCoder: {
      readonly GSM: { readonly charRegex: RegExp };
      encode(text: string, table: 0): Buffer;
    };
  };
  export default smpp;
}
