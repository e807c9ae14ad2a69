import type { SimulatedReport } from "../wire/protocol.ts";
import { between, hashText, type Random, randomAt, randomOf } from "./random.ts";
import { coursesOf, placeOn, type Road, type Town, townRadius } from "./road.ts";

/** m/s²: a calm driver. */
const acceleration = 1.6;
const braking = 2.2;
/** The longest step in which movement is computed, seconds. */
const step = 0.5;
/** Speeds at a turn and when turning back, m/s. */
const turnSpeed = 5.5;
const reverseSpeed = 2;

/** No vehicle is ever faster, km/h: the highest limit of any road. */
export const topSpeed = 60;

/** What comes at the end of the road that a vehicle is on. */
interface Ahead {
  readonly road: Road;
  /** Speed at the junction, m/s; 0 is a stop. */
  readonly speed: number;
  /** Seconds of a stop. */
  readonly wait: number;
  /** The trip ends there. */
  readonly parks?: boolean;
}

/**
 * A car that drives about a town: it keeps to the limits, slows down for turns, stops at some junctions, and parks
 * between trips. Its whole life follows from the seed; `advance` is the only thing that changes it.
 */
export class Vehicle {
  readonly #town: Town;
  readonly #random: Random;
  readonly #seed: number;
  #road: Road;
  #ahead: Ahead;
  /** Metres from the road's start. */
  #metres: number;
  /** m/s */
  #speed = 0;
  /** Seconds left of a stop or of parking. */
  #wait = 0;
  #ignition = true;
  #roadsLeft: number;
  #battery: number;
  #seconds = 0;

  constructor(town: Town, seed: string) {
    this.#town = town;
    this.#random = randomOf(seed);
    this.#seed = hashText(seed);
    this.#road = this.#start();
    this.#roadsLeft = this.#tripLength();
    this.#ahead = this.#choose();
    this.#metres = this.#random() * this.#road.length;
    this.#battery = between(this.#random, 60, 100);
    if (this.#random() < 0.15) this.#park(this.#parkingTime());
  }

  /** What the tracker in it says at the present moment of its life, dated `time` (epoch ms). */
  report(time: number): SimulatedReport {
    const { point, course } = placeOn(this.#road, this.#metres);
    const { latitude, longitude, altitude } = this.#town.position(point);
    return {
      time,
      latitude,
      longitude,
      altitude,
      speed: this.#speed * 3.6,
      course,
      satellites: 7 + Math.floor(6 * randomAt(this.#seed, Math.floor(this.#seconds / 60), 0, 0)),
      ignition: this.#ignition,
      battery: Math.round(this.#battery),
    };
  }

  /** Lets time pass, seconds. */
  advance(seconds: number): void {
    for (let left = seconds; left > 0; left -= step) this.#move(Math.min(step, left));
  }

  #move(seconds: number): void {
    this.#seconds += seconds;
    const charge = this.#ignition ? 0.02 : -0.002;
    this.#battery = Math.min(100, Math.max(5, this.#battery + charge * seconds));
    if (this.#wait > 0) {
      this.#wait -= seconds;
      if (this.#wait <= 0) this.#ignition = true;
      return;
    }
    const left = this.#road.length - this.#metres;
    const canStillBrake = Math.sqrt(this.#ahead.speed ** 2 + 2 * braking * left);
    const wanted = Math.min(this.#road.limit * this.#mood(), canStillBrake);
    const change = Math.min(acceleration * seconds, Math.max(-2 * braking * seconds, wanted - this.#speed));
    this.#speed = Math.max(0.5, this.#speed + change);
    this.#metres += this.#speed * seconds;
    if (this.#metres >= this.#road.length) this.#cross();
  }

  /** How near to the limit the driver drives: other cars, lights, attention; another one every quarter of a minute. */
  #mood(): number {
    return 0.7 + 0.3 * randomAt(this.#seed, Math.floor(this.#seconds / 15), 1, 0);
  }

  #cross(): void {
    const { road, speed, wait, parks } = this.#ahead;
    this.#metres = speed === 0 ? 0 : Math.min(this.#metres - this.#road.length, road.length);
    this.#road = road;
    this.#speed = Math.min(this.#speed, speed);
    this.#wait = wait;
    this.#roadsLeft -= 1;
    if (parks) this.#park(wait);
    this.#ahead = this.#choose();
  }

  #park(seconds: number): void {
    this.#ignition = false;
    this.#wait = seconds;
    this.#roadsLeft = this.#tripLength();
  }

  #parkingTime(): number {
    return between(this.#random, 60, 600);
  }

  #tripLength(): number {
    return Math.floor(between(this.#random, 15, 70));
  }

  /** A road of a main junction, anywhere in the town. */
  #start(): Road {
    const side = Math.floor(townRadius / 5);
    const pick = () => 5 * Math.floor(between(this.#random, -side, side + 1));
    const roads = this.#town.roadsFrom({ column: pick(), row: pick() });
    const road = roads[Math.floor(this.#random() * roads.length)];
    if (!road) throw new Error("a main junction has roads");
    return road;
  }

  /** The road after the present one: straight on is likelier than a turn, back only at a dead end. */
  #choose(): Ahead {
    const course = coursesOf(this.#road).last;
    const { from } = this.#road;
    const options = this.#town
      .roadsFrom(this.#road.to)
      .filter((road) => road.to.column !== from.column || road.to.row !== from.row)
      .map((road) => ({ road, turn: turnBetween(course, coursesOf(road).first) }));
    let pick = this.#random() * options.reduce((sum, { turn }) => sum + weight(turn), 0);
    const chosen = options.find(({ turn }) => {
      pick -= weight(turn);
      return pick < 0;
    });
    const road = chosen?.road ?? back(this.#road);
    if (this.#roadsLeft <= 1) return { road, speed: 0, wait: this.#parkingTime(), parks: true };
    if (!chosen) return { road, speed: reverseSpeed, wait: 0 };
    if (this.#random() < 0.15) return { road, speed: 0, wait: between(this.#random, 3, 40) };
    return { road, speed: chosen.turn < 40 ? road.limit : turnSpeed, wait: 0 };
  }
}

function weight(turn: number): number {
  return turn < 40 ? 3 : 1;
}

function back(road: Road): Road {
  return { ...road, from: road.to, to: road.from, points: road.points.toReversed() };
}

/** Difference of two courses, 0 to 180 degrees. */
export function turnBetween(course: number, next: number): number {
  const difference = Math.abs(course - next) % 360;
  return Math.min(difference, 360 - difference);
}
