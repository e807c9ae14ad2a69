import type { AccessPoint, Cell } from "../../wire/radio.ts";
import type { Reader } from "../../wire/reader.ts";
import type { Draft } from "../../wire/report.ts";

/** What the items of one report share. */
export interface Scene {
  /** The tag `model` of the device. */
  readonly model: string | undefined;
  /** The tracker is one of AOVX, whose items have other meanings. */
  aovx: boolean;
  readonly cells: Cell[];
  readonly wifi: AccessPoint[];
}

/** Reads an item's value: `length` bytes of the reader, which is moved to the end of the item afterwards. */
export type ItemReader = (reader: Reader, report: Draft, scene: Scene, length: number) => void;

/** An item of "additional location information": its least length, and what it means. */
export type ItemRow = readonly [least: number, read: ItemReader];
