import type { Alarm } from "../../model/alarms.ts";
import { type Draft, put, raise } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { isHandheld } from "./models.ts";
import { keep, keepNumber } from "./sentence.ts";
import { readState, stateOf, thousandth } from "./status.ts";

/** Reads the fields between the device name and the position, the last of which stands right before the position. */
type ReadBefore = (report: Draft, before: readonly string[], model: string) => void;

/** A message that holds a position and little else. */
export interface EventForm {
  /** Fields between the device name and the position, where the message has no coordinates by which to find it. */
  readonly before: number;
  readonly alarm?: Alarm;
  readonly read?: ReadBefore;
}

/**
 * Messages with a report ID, a report type and a number of positions: one digit each, or the two together and a field
 * for the supply in front.
 */
const withReportType: Readonly<Record<string, Omit<EventForm, "before">>> = {
  GTFRI: { read: readSupply },
  GTRTL: {},
  GTLBC: {},
  GTPNL: {},
  GTPFL: {},
  GTSOS: { alarm: "sos" },
  GTTOW: { alarm: "tow" },
  GTDIS: { read: typed((report, id, type) => setInput(report, id, type)) },
  GTIOB: {},
  GTGEO: { read: typed((report, _id, type) => raise(report, type === 1 ? "geofenceEnter" : "geofenceExit")) },
  GTGIN: { alarm: "geofenceEnter" },
  GTGOT: { alarm: "geofenceExit" },
  // 0: outside the range of speeds; 1: inside it again. (GL300 1.02, 3.3.1.1)
  GTSPD: { read: typed((report, _id, type) => type === 0 && raise(report, "overspeed")) },
  GTDOG: {},
  GTIGL: { read: typed((report, _id, type) => setIgnition(report, type === 0)) },
  GTVGL: { read: typed((report, _id, type) => setIgnition(report, type === 0)) },
  GTNMR: { read: typed((report, _id, type) => setMotion(report, type === 1)) },
  GTHBM: { read: typed((report, _id, type) => readHarsh(report, type)) },
  GTHBE: { read: typed((report, _id, type) => readHarsh(report, type)) },
  GTAIS: {},
  GTMAI: {},
  GTTMP: { alarm: "temperature" },
};

/** Messages with fields of their own before the position. */
const withOwnFields: Readonly<Record<string, EventForm>> = {
  GTEPN: { before: 0, alarm: "powerRestored" },
  GTMPN: { before: 0, alarm: "powerRestored" },
  GTEPF: { before: 0, alarm: "powerCut" },
  GTMPF: { before: 0, alarm: "powerCut" },
  GTEPS: { before: 1, alarm: "lowPower", read: last((report, text) => putVolts(report, text)) },
  GTBPL: {
    before: 1,
    alarm: "lowBattery",
    read: last((report, text) => put(report, "batteryVoltage", numberOf(text), "backupBatteryVoltage")),
  },
  GTBTC: { before: 0, read: (report) => setCharging(report, true) },
  GTSTC: { before: 1, read: (report) => setCharging(report, false) },
  GTSTT: { before: 1, read: last(readMotionState) },
  GTIDN: { before: 2, alarm: "idle" },
  GTIDF: { before: 2, read: last((report, text) => keepNumber(report, "idleDuration", text)) },
  GTTEM: { before: 2, alarm: "temperature", read: last((report, text) => putTemperature(report, text)) },
  GTJDR: { before: 0, alarm: "jamming" },
  // 1: the jamming has ended; 2: it began.
  GTJDS: { before: 1, read: last((report, text) => text !== "1" && raise(report, "jamming")) },
  // 1: no jamming; 2: warning; 3: no fix for it.
  GTGPJ: { before: 2, read: last((report, text) => (numberOf(text) ?? 0) >= 2 && raise(report, "jamming")) },
  // 0: working; 1: open circuit; 2: short circuit; 3: unknown.
  GTANT: {
    before: 1,
    read: last((report, text) => (text === "1" || text === "2") && raise(report, "gpsAntennaCut")),
  },
  GTGSS: { before: 1, read: last((report, text) => raise(report, text === "0" ? "gpsLost" : "gpsRestored")) },
  GTRMD: { before: 1, read: last((report, text) => setRoaming(report, text)) },
  GTCRA: { before: 1, alarm: "accident" },
  GTSVR: { before: 1, alarm: "tampering" },
  GTDRM: { before: 0, alarm: "removing" },
  GTSOA: { before: 0, alarm: "tampering" },
  GTDOS: { before: 2 },
  GTFLA: { before: 2, alarm: "fuelLeak", read: readFuelLoss },
  GTSWG: { before: 1, alarm: "geofence" },
  GTGES: { before: 5, alarm: "geofence" },
  GTLSP: { before: 0 },
  GTSTP: { before: 0, read: readBatteryBefore },
  GTSTR: { before: 5, read: readBatteryBefore },
  GTCTN: { before: 5, read: readBatteryBefore },
  GTLSW: { before: 2, read: last((report, text) => setInput(report, 1, numberOf(text))) },
  GTTSW: { before: 2, read: last((report, text) => setInput(report, 2, numberOf(text))) },
  GTLSA: { before: 3 },
  GTIDA: { before: 4, read: readDriver },
  GTDAR: { before: 4, read: readDriverAlarm },
  GTDAT: { before: 4, read: last((report, text) => keep(report, "data", text)) },
};

/** Messages with a position, by name. */
export const events: ReadonlyMap<string, EventForm> = new Map([
  ...Object.entries(withReportType).map(([name, form]) => [name, { ...form, before: 3 }] as const),
  ...Object.entries(withOwnFields),
]);

/** Names of the messages that have a report type. */
export const reportTypeNames: readonly string[] = Object.keys(withReportType);
/** Names of the messages with fields of their own. */
export const ownFieldNames: readonly string[] = Object.keys(withOwnFields);

/** Reads report ID and report type, which stand before the number of positions. */
function typed(read: (report: Draft, id: number, type: number) => unknown): ReadBefore {
  return (report, before) => {
    const index = before.length >= 4 && before[1]?.length === 1 ? 1 : before.length - 2;
    const text = before[index] ?? "";
    const joined = text.length === 2;
    const type = hexOf(joined ? text[1] : text);
    const id = hexOf(joined ? text[0] : before[index - 1]);
    if (type === undefined) return;
    report.attributes.reportType = `${joined ? "" : (before[index - 1] ?? "")}${text}`;
    read(report, id ?? 0, type);
  };
}

/** Reads the field right before the position. */
function last(read: (report: Draft, text: string) => unknown): ReadBefore {
  return (report, before) => {
    const text = before.at(-1) ?? "";
    if (text !== "") read(report, text);
  };
}

/**
 * +RESP:GTFRI of vehicle trackers: the external supply in mV. A battery tracker has the report ID there; GT501 the
 * states of motion and charging behind it.
 */
function readSupply(report: Draft, before: readonly string[], model: string): void {
  const [first, type = ""] = before.slice(-3);
  if (model === "GT501") {
    const bits = numberOf(before[1]);
    if (bits === undefined) return;
    report.readings.motion = (bits & 1) === 1;
    report.readings.charging = (bits & 2) === 2;
    return;
  }
  if (isHandheld(model)) return;
  keep(report, "reportType", type);
  if ((numberOf(first) ?? 0) > 10) putVolts(report, first);
}

/** Supply in mV. */
export function putVolts(report: Draft, text: string | undefined): void {
  put(report, "externalVoltage", thousandth(text), "externalPowerMillivolts");
}

function putTemperature(report: Draft, text: string): void {
  put(report, "deviceTemperature", numberOf(text), "temperatureOfDevice");
}

function setInput({ readings }: Draft, id: number, state: number | undefined): void {
  if (state !== 0 && state !== 1) return;
  if (id === 1) readings.input1 = state === 1;
  else if (id === 2) readings.input2 = state === 1;
  else if (id === 3) readings.input3 = state === 1;
  else if (id === 4) readings.input4 = state === 1;
}

function setIgnition({ readings }: Draft, on: boolean): void {
  readings.ignition = on;
}

function setMotion({ readings }: Draft, moves: boolean): void {
  readings.motion = moves;
}

function setCharging({ readings }: Draft, charging: boolean): void {
  readings.charging = charging;
}

function setRoaming({ readings }: Draft, text: string): void {
  if (text === "0" || text === "1") readings.roaming = text === "1";
}

/** 0 braking, 1 acceleration, 2 cornering, 3 braking and cornering, 4 acceleration and cornering. */
function readHarsh(report: Draft, type: number): void {
  if (type === 0 || type === 3) raise(report, "hardBraking");
  if (type === 1 || type === 4) raise(report, "hardAcceleration");
  if (type === 2 || type === 3 || type === 4) raise(report, "hardCornering");
}

/** The state after a change of motion; moving with the ignition off comes before towing. */
function readMotionState(report: Draft, text: string): void {
  readState(report, text);
  const state = stateOf(text);
  if (state?.tow === true) raise(report, "tow");
  else if (state?.motion === true && state.ignition !== true) raise(report, "movement");
}

function readFuelLoss(report: Draft, before: readonly string[]): void {
  const [earlier, now] = before.slice(-2);
  keepNumber(report, "fuelBefore", earlier);
  put(report, "fuel", numberOf(now), "fuelNow");
}

/** GL500: working mode, type, temperature and battery. (GL500 3.02, +RESP:GTSTR) */
function readBatteryBefore(report: Draft, before: readonly string[]): void {
  if (before.length < 5) return;
  putTemperature(report, before.at(-2) ?? "");
  put(report, "battery", numberOf(before.at(-1)), "batteryPercentage");
}

/** Driver's ID, whether it is authorised, number of positions. (GV300, +RESP:GTIDA) */
function readDriver(report: Draft, before: readonly string[]): void {
  const id = before[1];
  if (id) report.readings.driverId = id;
  keepNumber(report, "idReportType", before[2]);
}

/** Warning of the camera: 1 is fatigue, with its degree. (GV350M, +RESP:GTDAR) */
function readDriverAlarm(report: Draft, before: readonly string[]): void {
  if (before[0] === "1") {
    raise(report, "fatigueDriving");
    keepNumber(report, "fatigueDegree", before[1]);
  } else keepNumber(report, "warningType", before[0]);
}
