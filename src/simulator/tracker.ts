import { connect, type Socket } from "node:net";
import type { AnyProtocol, SimulatedDevice, SimulatedReport } from "../wire/protocol.ts";
import { Backlog } from "./backlog.ts";
import type { Gate } from "./gate.ts";
import { between, type Random } from "./random.ts";
import type { Counts } from "./stats.ts";

/** Reports in one message when a backlog is sent: what trackers usually pack. */
const reportsPerMessage = 20;
/** Time that the service has to answer, ms; then the connection is given up, as trackers do. */
const answerTimeout = 30_000;
/** Longest delay before a lost connection is opened again, ms. */
const longestDelay = 60_000;
/** An answer longer than this is none. */
const longestAnswer = 8192;

/** Where trackers connect, and what they share. */
export interface TrackerSettings {
  readonly host: string;
  readonly port: number;
  /** Reports that a tracker can hold. */
  readonly backlog: number;
  readonly gate: Gate;
  readonly counts: Counts;
  readonly random: Random;
  /** Delay before a lost connection is opened again, ms; doubled with each failure in a row, and varied by half. */
  readonly retryDelay: number;
  /** Called when a tracker has nothing left to tell. */
  readonly onEmpty: () => void;
}

type State = "silent" | "off" | "queued" | "connecting" | "login" | "ready" | "waiting" | "backoff";

/**
 * One device on a real socket: logs in, reports one message at a time, keeps what is not acknowledged, comes back after
 * a loss.
 */
export class Tracker {
  readonly device: string;
  readonly #speech: SimulatedDevice;
  readonly #settings: TrackerSettings;
  readonly #backlog: Backlog;
  #state: State = "off";
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #received: Uint8Array = new Uint8Array(0);
  #serial = 0;
  #failures = 0;
  #attempts = 0;

  constructor(device: string, protocol: AnyProtocol, settings: TrackerSettings) {
    if (!protocol.simulate) throw new Error(`protocol ${protocol.id} can't be simulated`);
    this.device = device;
    this.#speech = protocol.simulate;
    this.#settings = settings;
    this.#backlog = new Backlog(settings.backlog);
  }

  /** Reports that are not acknowledged yet. */
  get waiting(): number {
    return this.#backlog.length;
  }

  /** Adds a report, connects if need be, and sends as soon as the service is done with those before. */
  report(report: SimulatedReport): void {
    const dropped = this.#backlog.add(report);
    this.#settings.counts.dropped += dropped;
    this.#settings.counts.waiting += 1 - dropped;
    if (this.#state === "off") this.#queue();
    else if (this.#state === "ready") this.#send();
  }

  /** Its connection breaks off, and it opens none until `resume`: what it is given to report it keeps. */
  silence(): void {
    if (this.#state === "silent") return;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#lost("silent");
    socket?.destroy();
  }

  /** It comes back, and tells what it kept in its order. */
  resume(): void {
    if (this.#state !== "silent") return;
    this.#state = "off";
    if (this.#backlog.length > 0) this.#queue();
  }

  /** It is silent, by `silence`. */
  get silent(): boolean {
    return this.#state === "silent";
  }

  /** Closes the connection after what is written; the tracker stays off. */
  stop(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#lost("off");
    socket?.destroySoon();
  }

  #queue(): void {
    this.#state = "queued";
    this.#settings.gate.enter(() => this.#state === "queued" && this.#connect());
  }

  #connect(): void {
    const { host, port, counts } = this.#settings;
    if (this.#attempts++ > 0) counts.reconnects += 1;
    this.#state = "connecting";
    const socket = connect({ host, port, noDelay: true });
    this.#socket = socket;
    this.#expect();
    socket.on("connect", () => this.#socket === socket && this.#connected());
    socket.on("data", (bytes) => this.#socket === socket && typeof bytes !== "string" && this.#read(bytes));
    // An error is always followed by close, where it is dealt with.
    socket.on("error", () => undefined);
    socket.on("close", () => this.#socket === socket && this.#closed());
  }

  #connected(): void {
    this.#settings.counts.connected += 1;
    this.#received = new Uint8Array(0);
    this.#serial = 0;
    this.#state = "ready";
    const { login, answer } = this.#speech;
    if (login) this.#write(login(this.device, this.#serial++));
    if (login && answer) {
      this.#state = "login";
      this.#expect();
    } else this.#send();
  }

  #send(): void {
    clearTimeout(this.#timer);
    const { counts } = this.#settings;
    const { reports, again } = this.#backlog.take(reportsPerMessage);
    if (reports.length === 0) return;
    this.#write(this.#speech.report(this.device, reports, this.#serial++));
    counts.sent += reports.length;
    counts.resent += again;
    if (this.#speech.answer) {
      this.#state = "waiting";
      this.#expect();
    } else {
      counts.unanswered += reports.length;
      this.#done(reports.length);
    }
  }

  #write(bytes: Uint8Array): void {
    this.#socket?.write(bytes);
  }

  /** Gives the service its time for what it owes. */
  #expect(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(), answerTimeout);
  }

  #read(bytes: Uint8Array): void {
    const { answer, obey } = this.#speech;
    if (!answer) return;
    let rest = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    while (rest.length > 0) {
      const read = answer(rest);
      if (read === "more" || read.length <= 0) break;
      const reply = obey?.(rest.subarray(0, read.length), this.device, this.#serial);
      rest = rest.subarray(read.length);
      if (reply) {
        this.#serial++;
        this.#write(reply);
        continue;
      }
      this.#answered(read.accepted, read.reports);
      if (!this.#socket) return;
    }
    this.#received = rest;
    if (rest.length > longestAnswer) this.#giveUp();
  }

  #answered(accepted: boolean, reports: number): void {
    if (!accepted) {
      this.#settings.counts.refused += Math.max(1, this.#backlog.inFlight);
      this.#giveUp(true);
    } else if (this.#state === "login") {
      this.#state = "ready";
      this.#send();
    } else if (this.#state === "waiting") {
      this.#settings.counts.acked += Math.min(reports, this.#backlog.inFlight);
      this.#done(reports);
    }
  }

  #done(reports: number): void {
    this.#failures = 0;
    this.#settings.counts.waiting -= this.#backlog.acknowledge(reports);
    if (this.#backlog.inFlight > 0) {
      this.#expect();
      return;
    }
    this.#state = "ready";
    clearTimeout(this.#timer);
    if (this.#backlog.length > 0) this.#send();
    else this.#settings.onEmpty();
  }

  /** The service closed the connection. With nothing to tell, the next report opens another. */
  #closed(): void {
    if (this.#state === "ready" && this.#backlog.length === 0) this.#lost("off");
    else this.#giveUp();
  }

  /**
   * The connection is lost, was refused or took too long: another one after a while. `counted`: the refusal is in the
   * counts.
   */
  #giveUp(counted = false): void {
    if (this.#state === "login" && !counted) this.#settings.counts.refused += 1;
    const socket = this.#socket;
    this.#lost("backoff");
    socket?.destroy();
    const { retryDelay, random } = this.#settings;
    const delay = Math.min(longestDelay, retryDelay * 2 ** this.#failures++) * between(random, 0.5, 1.5);
    this.#timer = setTimeout(() => this.#queue(), delay);
  }

  #lost(state: State): void {
    clearTimeout(this.#timer);
    if (this.#state === "login" || this.#state === "ready" || this.#state === "waiting")
      this.#settings.counts.connected -= 1;
    this.#backlog.lose();
    this.#socket = undefined;
    this.#state = state;
  }
}
