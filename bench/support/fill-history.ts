import { connect } from "node:net";
import { AvlPacket, avlLogin } from "./avl.ts";

/** Packets sent ahead of their acknowledgement: a tracker that empties its memory. */
const ahead = 8;

/** Sends positions of one device, one a second and one a packet, until all are acknowledged. */
export async function fillHistory(port: number, imei: string, positions: number): Promise<void> {
  const packet = new AvlPacket(1);
  const socket = connect(port, "127.0.0.1");
  const start = Date.now() - (positions + 60) * 1000;
  let sent = 0;
  /** Bytes of answers that are awaited: one for the login, four for each packet. */
  let awaited = 1;
  await new Promise<void>((resolve, reject) => {
    socket.setNoDelay(true);
    socket.on("connect", () => socket.write(avlLogin(imei)));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`the connection was closed after ${sent} positions`)));
    socket.on("data", (chunk: Buffer) => {
      awaited -= chunk.length;
      while (sent < positions && awaited < ahead * 4) {
        packet.move(start + sent * 1000, sent);
        sent++;
        awaited += 4;
        socket.write(packet.bytes.slice());
      }
      if (awaited === 0) resolve();
    });
  });
  socket.removeAllListeners("close");
  socket.destroy();
}
