import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Ports that the system gives nobody who leaves the choice to it: Linux begins at 32768, and macOS at 49152. One that it
 * chose may be another test's a moment later.
 */
const first = 20_000;
const count = 10_000;

/** A port at which nobody listens, and nobody comes to by chance: for a setting that has to name one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * count);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
