import { mercatorX, mercatorY, placeOf } from "./mercator.ts";
import { stateOf } from "./states.ts";

/** Bytes of one device in the buffer of the map: where it was, where it is, since when, and its look. */
export const stride = 24;
const floats = stride / 4;
const lookAt = 20;

/** A position as the stream gives it. */
export interface LivePosition {
  readonly longitude: number;
  readonly latitude: number;
  /** km/h. */
  readonly speed: number;
  /** Degrees clockwise from north. */
  readonly course: number;
  /** Epoch ms. */
  readonly fixAt: number;
  readonly ignition: boolean;
  readonly critical: boolean;
}

/** All that is known of a device. */
export interface KnownDevice {
  readonly id: string;
  /** Absent: it has none. */
  readonly position?: LivePosition;
  readonly connected: boolean;
  /** Epoch ms. */
  readonly contactAt: number;
}

const connectedBit = 1;
const ignitionBit = 2;
const criticalBit = 4;
const placedBit = 8;
const openAlertBit = 16;

/** A vehicle that moved further between two reports does not slide over the map: a share of the world's width, 4 km. */
const longestSlide = 0.0001;

/**
 * The newest state of every device, in typed arrays: 50,000 of them take some 5 MB, change without garbage, and their
 * part for the map goes to the graphics processor as it is. A device keeps its row until it is removed; rows of removed
 * ones are used again.
 */
export class FleetStore {
  /**
   * For the map, `stride` bytes a row: x and y before, x and y now (less the origin), seconds of the change; then
   * state, heading, two that the map uses.
   */
  bytes = new Uint8Array(0);
  /** Rows in use and free ones between them. */
  rows = 0;
  /** Grows with each change. */
  version = 0;
  x = new Float64Array(0);
  y = new Float64Array(0);
  fixAt = new Float64Array(0);
  contactAt = new Float64Array(0);
  speed = new Float32Array(0);
  state = new Uint8Array(0);
  ids: (string | undefined)[] = [];
  originX = 0.5;
  originY = 0.5;
  /** Rows that changed since the map took them; empty: `dirtyFrom` is not less than `dirtyTo`. */
  dirtyFrom = 0;
  dirtyTo = 0;
  /** When the last device stops sliding, in the store's seconds. */
  movesUntil = 0;

  readonly #index = new Map<string, number>();
  readonly #free: number[] = [];
  readonly #startedAt: number;
  #fromX = new Float64Array(0);
  #fromY = new Float64Array(0);
  #since = new Float64Array(0);
  #course = new Float32Array(0);
  #bits = new Uint8Array(0);
  #floats = new Float32Array(0);
  /** Seconds that a device slides from one position to the next; 0: it jumps. */
  slideSeconds = 1;

  /** `now`: epoch ms. */
  constructor(now: number) {
    this.#startedAt = now;
  }

  /** Devices that are known. */
  get size(): number {
    return this.#index.size;
  }

  /** A moment in the seconds of the buffer, which a float holds exactly enough for a month. */
  seconds(now: number): number {
    return (now - this.#startedAt) / 1000;
  }

  /** The row of a device. */
  rowOf(id: string): number | undefined {
    return this.#index.get(id);
  }

  /** Whether a row is of a device that has a position. */
  isPlaced(row: number): boolean {
    return ((this.#bits[row] ?? 0) & placedBit) !== 0;
  }

  isConnected(row: number): boolean {
    return ((this.#bits[row] ?? 0) & connectedBit) !== 0;
  }

  /** Sets a device's position. */
  move(id: string, position: LivePosition, now: number): void {
    const row = this.#rowFor(id);
    const x = mercatorX(position.longitude);
    const y = mercatorY(position.latitude);
    const slides = this.isPlaced(row) && this.slideSeconds > 0 && this.#isNear(row, x, y);
    this.#fromX[row] = slides ? (this.x[row] ?? x) : x;
    this.#fromY[row] = slides ? (this.y[row] ?? y) : y;
    this.#since[row] = this.seconds(now);
    this.x[row] = x;
    this.y[row] = y;
    this.speed[row] = position.speed;
    this.#course[row] = position.course;
    this.fixAt[row] = position.fixAt;
    this.#set(row, ignitionBit, position.ignition);
    this.#set(row, criticalBit, position.critical);
    this.#set(row, placedBit, true);
    if (slides && (this.#fromX[row] !== x || this.#fromY[row] !== y))
      this.movesUntil = Math.max(this.movesUntil, this.seconds(now) + this.slideSeconds);
    this.#judge(row, now);
    this.#write(row);
  }

  /** Sets whether a device is connected, and when it last said anything (epoch ms). */
  setStatus(id: string, connected: boolean, contactAt: number, now: number): void {
    const row = this.#rowFor(id);
    this.#set(row, connectedBit, connected);
    this.contactAt[row] = contactAt;
    this.#judge(row, now);
    this.#write(row);
  }

  /** Every device, for another store. */
  known(): readonly KnownDevice[] {
    return [...this.#index].map(([id, row]) => ({
      ...{ id, connected: this.isConnected(row), contactAt: this.contactAt[row] ?? 0 },
      ...(this.isPlaced(row) && { position: this.#positionOf(row) }),
    }));
  }

  /** Takes a device of another store. */
  take({ id, position, connected, contactAt }: KnownDevice, now: number): void {
    if (position !== undefined) this.move(id, position, now);
    this.setStatus(id, connected, contactAt, now);
  }

  #positionOf(row: number): LivePosition {
    const bits = this.#bits[row] ?? 0;
    const [longitude, latitude] = placeOf(this.x[row] ?? 0, this.y[row] ?? 0);
    return {
      ...{ longitude, latitude, speed: this.speed[row] ?? 0, course: this.#course[row] ?? 0 },
      ...{ fixAt: this.fixAt[row] ?? 0, ignition: (bits & ignitionBit) !== 0, critical: (bits & criticalBit) !== 0 },
    };
  }

  /** Sets whether a critical alert of a device is open. */
  setAlert(id: string, open: boolean, now: number): void {
    const row = this.#index.get(id);
    if (row === undefined) return;
    this.#set(row, openAlertBit, open);
    this.#judge(row, now);
    this.#write(row);
  }

  /** Judges every device again: time alone makes them offline. */
  judgeAll(now: number): void {
    for (let row = 0; row < this.rows; row += 1) {
      const before = this.state[row];
      if (this.ids[row] === undefined) continue;
      this.#judge(row, now);
      if (this.state[row] !== before) this.#write(row);
    }
  }

  /** Forgets a device. */
  remove(id: string): void {
    const row = this.#index.get(id);
    if (row === undefined) return;
    this.#index.delete(id);
    this.ids[row] = undefined;
    this.#bits[row] = 0;
    this.#free.push(row);
    this.#touch(row);
  }

  /** Forgets all devices. */
  clear(): void {
    this.#index.clear();
    this.#free.length = 0;
    this.ids.length = 0;
    this.#bits.fill(0);
    this.rows = 0;
    this.version += 1;
  }

  /** Moves the origin of the buffer near to what is looked at: a float is good for centimetres there. */
  rebase(x: number, y: number): void {
    this.originX = x;
    this.originY = y;
    for (let row = 0; row < this.rows; row += 1) this.#write(row);
  }

  /** The changed rows were taken. */
  taken(): void {
    this.dirtyFrom = this.rows;
    this.dirtyTo = 0;
  }

  #isNear(row: number, x: number, y: number): boolean {
    return Math.hypot(x - (this.x[row] ?? x), y - (this.y[row] ?? y)) < longestSlide;
  }

  #set(row: number, bit: number, on: boolean): void {
    this.#bits[row] = on ? (this.#bits[row] ?? 0) | bit : (this.#bits[row] ?? 0) & ~bit;
  }

  #judge(row: number, now: number): void {
    const bits = this.#bits[row] ?? 0;
    this.state[row] = stateOf(
      {
        speed: this.speed[row] ?? 0,
        fixAt: this.fixAt[row] ?? 0,
        connected: (bits & connectedBit) !== 0,
        contactAt: Math.max(this.contactAt[row] ?? 0, this.fixAt[row] ?? 0),
        ignition: (bits & ignitionBit) !== 0,
        critical: (bits & (criticalBit | openAlertBit)) !== 0,
      },
      now,
    );
  }

  #write(row: number): void {
    const at = row * floats;
    this.#floats[at] = (this.#fromX[row] ?? 0) - this.originX;
    this.#floats[at + 1] = (this.#fromY[row] ?? 0) - this.originY;
    this.#floats[at + 2] = (this.x[row] ?? 0) - this.originX;
    this.#floats[at + 3] = (this.y[row] ?? 0) - this.originY;
    this.#floats[at + 4] = this.#since[row] ?? 0;
    this.bytes[row * stride + lookAt] = this.state[row] ?? 0;
    this.bytes[row * stride + lookAt + 1] = Math.round(((this.#course[row] ?? 0) / 360) * 256) & 255;
    this.#touch(row);
  }

  #touch(row: number): void {
    this.dirtyFrom = Math.min(this.dirtyFrom, row);
    this.dirtyTo = Math.max(this.dirtyTo, row + 1);
    this.version += 1;
  }

  #rowFor(id: string): number {
    const known = this.#index.get(id);
    if (known !== undefined) return known;
    const row = this.#free.pop() ?? this.rows;
    if (row === this.rows) this.rows += 1;
    if (this.rows > this.x.length) this.#grow();
    this.ids[row] = id;
    this.#bits[row] = 0;
    this.contactAt[row] = 0;
    this.fixAt[row] = 0;
    this.speed[row] = 0;
    this.#index.set(id, row);
    return row;
  }

  #grow(): void {
    const size = Math.max(256, this.x.length * 2);
    this.bytes = grown(this.bytes, new Uint8Array(size * stride));
    this.#floats = new Float32Array(this.bytes.buffer);
    this.x = grown(this.x, new Float64Array(size));
    this.y = grown(this.y, new Float64Array(size));
    this.fixAt = grown(this.fixAt, new Float64Array(size));
    this.contactAt = grown(this.contactAt, new Float64Array(size));
    this.speed = grown(this.speed, new Float32Array(size));
    this.state = grown(this.state, new Uint8Array(size));
    this.#fromX = grown(this.#fromX, new Float64Array(size));
    this.#fromY = grown(this.#fromY, new Float64Array(size));
    this.#since = grown(this.#since, new Float64Array(size));
    this.#course = grown(this.#course, new Float32Array(size));
    this.#bits = grown(this.#bits, new Uint8Array(size));
  }
}

function grown<T extends Uint8Array | Float32Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
