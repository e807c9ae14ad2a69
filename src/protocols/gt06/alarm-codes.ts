import type { Alarm } from "../../model/alarms.ts";
import { type Draft, raise } from "../../wire/report.ts";

/** Alarm codes of JM-VL03 v1.1.2 (0x26), GT06N v1.1.7 and, above 0x32, later Jimi 4G models. */
const codes: ReadonlyMap<number, Alarm> = new Map<number, Alarm>([
  [0x01, "sos"],
  [0x02, "powerCut"],
  [0x03, "vibration"],
  [0x04, "geofenceEnter"],
  [0x05, "geofenceExit"],
  [0x06, "overspeed"],
  [0x09, "vibration"],
  [0x0a, "gpsLost"],
  [0x0b, "gpsRestored"],
  [0x0c, "powerOn"],
  [0x0e, "lowPower"],
  [0x0f, "lowPower"],
  [0x10, "simChanged"],
  [0x11, "powerOff"],
  [0x13, "tampering"],
  [0x14, "doorOpened"],
  [0x15, "powerOff"],
  [0x16, "noise"],
  [0x17, "jamming"],
  [0x18, "removing"],
  [0x19, "lowBattery"],
  [0x1a, "hardBraking"],
  [0x1b, "hardCornering"],
  [0x23, "fallDown"],
  [0x25, "tampering"],
  [0x26, "hardAcceleration"],
  [0x27, "hardBraking"],
  [0x28, "hardBraking"],
  [0x29, "hardAcceleration"],
  [0x2a, "hardCornering"],
  [0x2b, "hardCornering"],
  [0x2c, "accident"],
  [0x2e, "hardCornering"],
  [0x30, "hardBraking"],
  [0x32, "removing"],
  [0x33, "lock"],
  [0x34, "unlock"],
  [0x53, "fuelLeak"],
  [0x5b, "temperature"],
  [0x5c, "temperature"],
  [0xc9, "idle"],
  [0xf0, "hardAcceleration"],
  [0xf1, "hardBraking"],
  [0xf2, "accident"],
  [0xfe, "ignitionOn"],
  [0xff, "ignitionOff"],
  [0x107, "jamming"],
  [0x10b, "jamming"],
]);

/** Codes that mean something else at a family of models. */
const families: readonly { readonly has: (model: string) => boolean; readonly codes: ReadonlyMap<number, Alarm> }[] = [
  {
    has: (model) => model.startsWith("LW"),
    codes: new Map<number, Alarm>([
      [0x18, "accident"],
      [0x19, "hardAcceleration"],
    ]),
  },
  {
    has: (model) => model === "SEEWORLD",
    codes: new Map<number, Alarm>([
      [0x28, "hardCornering"],
      [0x29, "accident"],
    ]),
  },
  {
    has: (model) => ["VL103", "LL303", "VL512", "G18"].includes(model),
    codes: new Map<number, Alarm>([
      [0x09, "tow"],
      [0x28, "powerOff"],
    ]),
  },
  {
    has: (model) => model === "TRX16I",
    codes: new Map<number, Alarm>([[0x09, "general"]]),
  },
];

/** The alarm of a code, which may depend on the model; undefined where no manual names it. */
export function alarmOf(code: number, model: string | undefined): Alarm | undefined {
  if (model !== undefined) {
    const name = model.toUpperCase();
    for (const family of families) {
      const alarm = family.has(name) ? family.codes.get(code) : undefined;
      if (alarm !== undefined) return alarm;
    }
  }
  return codes.get(code);
}

/** Raises the alarm of a code: none for 0, `general` with the code where no manual names it. */
export function raiseCode(report: Draft, code: number, model: string | undefined): void {
  if (code === 0) return;
  const alarm = alarmOf(code, model);
  raise(report, alarm ?? "general");
  if (alarm === undefined || alarm === "general") report.attributes.alarmCode = code;
}

/** Alarms that have a code of one byte. */
export const codedAlarms: readonly Alarm[] = [
  ...new Set([...codes].flatMap(([code, alarm]) => (code <= 0xff ? [alarm] : []))),
];

/** The first code of an alarm; 0, which is none, where it has no code of one byte. */
export function codeOf(alarm: Alarm | undefined): number {
  for (const [code, name] of codes) if (name === alarm && code <= 0xff) return code;
  return 0;
}
