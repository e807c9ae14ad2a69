import { Agent, request } from "node:http";

/** An answer of the API. Status 0: the connection was closed without one. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Asks the API from one address of the loopback network, on connections that are kept. */
export class Client {
  readonly #port: number;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(port: number, token: string, from: string, sockets = 16) {
    this.#port = port;
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets, localAddress: from });
  }

  /** The answer to a request; `body` is sent as it is where it is a text. */
  ask(method: string, path: string, body?: object | string): Promise<Answer> {
    const bytes = body === undefined ? undefined : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    return new Promise((resolve) => {
      const asked = request(
        {
          agent: this.#agent,
          host: "127.0.0.1",
          port: this.#port,
          method,
          path,
          headers: {
            ...(this.#token !== "" && { authorization: `Bearer ${this.#token}` }),
            ...(bytes && { "content-type": "application/json", "content-length": bytes.length }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", () => resolve({ status: 0, text: "" }));
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          );
        },
      );
      asked.on("error", (error) => resolve({ status: 0, text: error.message }));
      asked.end(bytes);
    });
  }

  /** The fields of an answer that must be a good one. */
  async take(method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
    const { status, text } = await this.ask(method, path, body);
    if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`);
    const value: unknown = JSON.parse(text);
    return { ...Object(value) };
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** A token for a user name and API key, asked for from an address that has not used up its requests. */
export async function tokenOf(port: number, userName: string, apiKey: string, from: string): Promise<string> {
  const client = new Client(port, "", from);
  try {
    const { token } = await client.take("POST", "/api/Auth/Token", { userName, apiKey });
    return String(token);
  } finally {
    client.close();
  }
}
