/** Bytes that grow at the end, in one ArrayBuffer that can be handed to another thread. Little endian throughout. */
export class ByteSink {
  bytes: Buffer<ArrayBuffer>;
  view: DataView<ArrayBuffer>;
  length = 0;

  constructor(capacity: number) {
    this.bytes = Buffer.from(new ArrayBuffer(capacity));
    this.view = new DataView(this.bytes.buffer);
  }

  /** Makes room for `more` bytes. `bytes` and `view` may be other objects afterwards. */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.bytes.length) return;
    const grown = Buffer.from(new ArrayBuffer(Math.max(needed, this.bytes.length * 2)));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  byte(value: number): void {
    this.reserve(1);
    this.view.setUint8(this.length, value);
    this.length += 1;
  }

  float64(value: number): void {
    this.reserve(8);
    this.view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  uint32(value: number): void {
    this.reserve(4);
    this.view.setUint32(this.length, value, true);
    this.length += 4;
  }

  /** UTF-8 without a length. */
  text(value: string): void {
    this.reserve(value.length * 3);
    this.length += this.bytes.write(value, this.length, "utf8");
  }

  copy(source: Buffer, start: number, end: number): void {
    this.reserve(end - start);
    this.length += source.copy(this.bytes, this.length, start, end);
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.byteLength);
    this.bytes.set(bytes, this.length);
    this.length += bytes.byteLength;
  }

  /** Replaces a buffer that has grown over `size` by a smaller one. What was written is gone then. */
  shrink(size: number): void {
    if (this.bytes.length > size) this.#continueIn(new ArrayBuffer(size));
  }

  /** A view of what was written. Read it before anything else is written. */
  get written(): Buffer<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }

  /** Copies what was written into an ArrayBuffer of its own. */
  cut(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.bytes.buffer.slice(0, this.length));
  }

  /** Returns what was written, in the sink's own buffer. The sink continues with another buffer. */
  exchange(buffer: ArrayBuffer): Uint8Array<ArrayBuffer> {
    const written = new Uint8Array(this.bytes.buffer, 0, this.length);
    this.#continueIn(buffer);
    return written;
  }

  #continueIn(buffer: ArrayBuffer): void {
    this.bytes = Buffer.from(buffer);
    this.view = new DataView(buffer);
    this.length = 0;
  }
}
