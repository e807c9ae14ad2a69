import { type Draft, put } from "./report.ts";

/*
 * What a tracker hears of the networks around it. Only a database of transmitters could turn it into a place, so it is
 * kept as attributes, which have the same form in every protocol: `cells` and `wifi`. Nothing else of a cell or an
 * access point stands in attributes of its own.
 */

/** A cell of a mobile network. What the tracker does not say is absent. */
export interface Cell {
  /** Mobile country code, 200 to 799. */
  readonly mcc?: number | undefined;
  /** Mobile network code. */
  readonly mnc?: number | undefined;
  /** Location area code; of 4G the tracking area code. */
  readonly lac?: number | undefined;
  /** Number of the cell; of 3G and 4G with the number of its controller. */
  readonly cellId?: number | undefined;
  /** Strength as the tracker gives it: dBm, an unsigned byte, or a level of its own. */
  readonly signal?: number | undefined;
}

/** A Wi-Fi access point. */
export interface AccessPoint {
  /** Hardware address: twelve hex digits, with or without colons or dashes. */
  readonly mac: string;
  /** Strength as the tracker gives it. */
  readonly signal?: number | undefined;
}

/**
 * The attribute `cells`: `mcc,mnc,lac,cellId` and, where the tracker gives it, `,signal` of each cell, joined by `;`,
 * the serving one first. What is not known is left empty: `262,1,4660,22136,-90;262,1,4660,22137` or `,,4660,22136`.
 * Undefined: there are none.
 */
export function cellsText(cells: readonly Cell[]): string | undefined {
  if (cells.length === 0) return undefined;
  return cells
    .map(({ mcc, mnc, lac, cellId, signal }) => {
      const cell = `${mcc ?? ""},${mnc ?? ""},${lac ?? ""},${cellId ?? ""}`;
      return signal === undefined ? cell : `${cell},${signal}`;
    })
    .join(";");
}

/**
 * The attribute `wifi`: `mac` and, where the tracker gives it, `,signal` of each access point, joined by `;`:
 * `02:10:00:00:00:01,-60;02:10:00:00:00:02`. Addresses have small letters and colons. Undefined: there are none.
 */
export function wifiText(points: readonly AccessPoint[]): string | undefined {
  if (points.length === 0) return undefined;
  return points.map(({ mac, signal }) => (signal === undefined ? macText(mac) : `${macText(mac)},${signal}`)).join(";");
}

function macText(mac: string): string {
  return mac
    .replaceAll(/[:-]/g, "")
    .toLowerCase()
    .replaceAll(/(..)(?=.)/g, "$1:");
}

/**
 * Puts a signal of 1 to 31 as GSM gives it (3GPP TS 27.007, +CSQ) in dBm. Any other is kept under the manual's name: 99
 * is not known, and 0 is what many trackers send that have not measured. The list of what a protocol can give is made
 * of the names in its own files, so the reading's stands there.
 */
export function putCsq(report: Draft, name: "rssi", value: number, manualName: string): void {
  if (value >= 1 && value <= 31) put(report, name, 2 * value - 113, manualName);
  else report.attributes[manualName] = value;
}
