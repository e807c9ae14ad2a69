import { type AccessPoint, type Cell, cellsText, wifiText } from "../../wire/radio.ts";
import type { Draft } from "../../wire/report.ts";
import { readStatus } from "./status.ts";

const hexPair = /^[0-9a-f]{1,8}$/i;

/**
 * Cells as `{country,network,area,cell}` in decimal, or country, network, then areas and cells in hexadecimal; behind
 * them the vehicle's status.
 */
export function readCells(body: string, report: Draft): void {
  const cells: Cell[] = [];
  let status = "";
  if (body.includes("{")) {
    for (const part of body.split("{").slice(1)) {
      const [mcc, mnc, lac, cellId] = (part.split("}")[0] ?? "").split(",").map(Number);
      if (Number.isSafeInteger(mcc) && Number.isSafeInteger(cellId)) cells.push({ mcc, mnc, lac, cellId });
    }
    status = body.slice(body.lastIndexOf("}") + 1).replaceAll(/[\s,]/g, "");
  } else {
    const fields = body.split(",");
    const [mcc = Number.NaN, mnc = Number.NaN] = fields.slice(0, 2).map(Number);
    for (let at = 2; at + 1 < fields.length; at += 2) {
      const [lac = "", cellId = ""] = fields.slice(at, at + 2);
      if (!Number.isSafeInteger(mcc) || !Number.isSafeInteger(mnc) || !hexPair.test(lac) || !hexPair.test(cellId))
        break;
      cells.push({ mcc, mnc, lac: Number.parseInt(lac, 16), cellId: Number.parseInt(cellId, 16) });
    }
    if (fields.length % 2 === 1) status = fields.at(-1) ?? "";
  }
  put(cellsText(cells), "cells", report);
  if (status !== "") readStatus(status, report);
}

function put(text: string | undefined, name: "cells" | "wifi", report: Draft): void {
  if (text !== undefined) report.attributes[name] = text;
}

/**
 * `country,network,area,cell,number of access points,mac*signal*channel,...,ddmmyy,hhmmss`: gives the date and the time
 * back.
 */
export function readSurroundings(body: string, report: Draft): { readonly date: string; readonly clock: string } {
  const fields = body.split(",");
  const [mcc, mnc, lac, cellId] = fields
    .slice(0, 4)
    .map((text) => (/^\d{1,10}$/.test(text) ? Number(text) : undefined));
  if (mcc !== undefined && cellId !== undefined) put(cellsText([{ mcc, mnc, lac, cellId }]), "cells", report);
  const points: AccessPoint[] = [];
  for (const text of fields.slice(5, -2)) {
    const [mac = "", signal = ""] = text.split("*");
    if (/^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(mac))
      points.push({ mac, ...(/^-?\d{1,4}$/.test(signal) && { signal: Number(signal) }) });
  }
  put(wifiText(points), "wifi", report);
  const [day = "", clock = ""] = fields.slice(-2);
  return { date: day.slice(4, 6) + day.slice(2, 4) + day.slice(0, 2), clock };
}
