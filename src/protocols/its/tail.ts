import type { Draft } from "../../wire/report.ts";
import { percentOf } from "../../wire/text.ts";
import { keep, keepNumber, putText } from "./values.ts";

const axes = ["accelerationX", "accelerationY", "accelerationZ"] as const;
/** Fields of a Roadpoint's tail: odometer, analogue input, three axes, two tilts. */
const roadpointFields = 7;
/** The frame number is among the first fields behind the outputs. */
const maximumBefore = 4;

/**
 * What stands behind the outputs: the standard has only frame number and checksum there, and each maker puts his own
 * inputs and distances around the frame number. The checksum is each maker's own, too, and not compared. Answers the
 * text of a command's answer, where there is one.
 */
export function readTail(report: Draft, tail: readonly string[]): string {
  const open = tail.findIndex((text) => text.startsWith("("));
  const fields = open < 0 ? tail : tail.slice(0, open);
  const numberAt = frameNumberAt(fields);
  if (numberAt < 0) {
    keep(report, "otherFields", fields.join(",").replace(/,+$/, ""));
    return answerOf(tail, open);
  }
  readBefore(report, fields.slice(0, numberAt));
  const behind = fields.slice(numberAt + 1);
  if (open >= 0) {
    readAnalog(report, behind.slice(0, 2));
    keepNumber(report, "deltaDistance", behind[2] ?? "");
    return answerOf(tail, open);
  }
  return readBehind(report, behind);
}

/**
 * Six digits, the last of two such fields (in front of it may stand an odometer of six digits); of some makers it is
 * no padded number and comes first.
 */
function frameNumberAt(fields: readonly string[]): number {
  const six = (at: number) => /^\d{6}$/.test(fields[at] ?? "");
  for (let at = 0; at < maximumBefore; at++) if (six(at)) return six(at + 1) ? at + 1 : at;
  return /^\d+$/.test(fields[0] ?? "") ? 0 : -1;
}

/** One or two analogue inputs (V), and of some makers an odometer in whole metres (VT140 1.0, 2.3). */
function readBefore(report: Draft, fields: readonly string[]): void {
  const [first = "", second = "", third] = fields;
  const isOdometer = third === undefined && first.includes(".") && !second.includes(".");
  readAnalog(report, isOdometer ? [first] : [first, second]);
  putText(report, "odometer", isOdometer ? second : (third ?? ""), "odometerMetres", 0.001);
}

function readAnalog(report: Draft, [first = "", second = ""]: readonly string[]): void {
  putText(report, "analog1", first, "analogInput1");
  putText(report, "analog2", second, "analogInput2");
}

function readBehind(report: Draft, fields: readonly string[]): string {
  const [first = "", second = "", third = ""] = fields;
  if (fields.length >= roadpointFields && fields.slice(0, roadpointFields).every(isNumber)) {
    putText(report, "odometer", first, "odometerKilometres");
    putText(report, "analog1", second, "analogInput1");
    for (const [index, axis] of axes.entries()) putText(report, axis, fields[index + 2] ?? "", `gSensor${index}`);
    keepNumber(report, "tiltY", fields[5] ?? "");
    keepNumber(report, "tiltX", fields[6] ?? "");
    return "";
  }
  if (first.includes(".") && second.includes(".")) {
    readAnalog(report, fields);
    return "";
  }
  if (first.includes(".")) {
    putText(report, "odometer", first, "odometerKilometres");
    return "";
  }
  // Format and text of an answer, a third field, and a checksum (Wetrack140).
  return third !== "" && second !== "" && /[^0]/.test(second) ? second : "";
}

function isNumber(text: string): boolean {
  return percentOf(text) !== undefined;
}

/** The text between the brackets; zeros stand for none. */
function answerOf(tail: readonly string[], open: number): string {
  if (open < 0) return "";
  const text = tail.slice(open).join(",");
  const close = text.lastIndexOf(")");
  const answer = text.slice(1, close < 0 ? undefined : close);
  return /^[0,]*$/.test(answer) ? "" : answer;
}
