/** An event as a stream sends it (HTML Living Standard, 9.2.6). `data`: JSON, so it has no line ends. */
export function eventFrame(event: string, data: string, id?: string): Uint8Array {
  return Buffer.from(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`);
}
