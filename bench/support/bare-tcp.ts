// A server that only cuts Codec 8 packets and answers them: the measure for what acknowledging costs at the least.
import { createServer, type Socket } from "node:net";

const accepted = Uint8Array.of(1);

function serve(socket: Socket): void {
  let loggedIn = false;
  let rest: Buffer = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      if (!loggedIn) {
        if (data.length < 2 || data.length < 2 + data.readUInt16BE(0)) break;
        data = data.subarray(2 + data.readUInt16BE(0));
        loggedIn = true;
        socket.write(accepted);
        continue;
      }
      if (data.length < 12) break;
      const length = 12 + data.readUInt32BE(4);
      if (data.length < length) break;
      const answer = Buffer.alloc(4);
      answer[3] = data[9] ?? 0;
      socket.write(answer);
      data = data.subarray(length);
    }
    rest = data;
  });
}

const server = createServer(serve);
server.listen(0, "127.0.0.1", 1024, () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) process.send?.({ port: address.port });
});
