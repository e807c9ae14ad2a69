import type { Readings } from "../../model/readings.ts";
import { judgeAlarmOr, type ReadingSays } from "../families/alarm-level.ts";
import { rounded } from "../families/check.ts";
import type { RuleType } from "../judge.ts";

/** No supply of a vehicle (12 V, 24 V) is so low: what is measured then is an open wire, V. */
const openWire = 3;

/** The tracker was disconnected from the vehicle's power. */
export const powerDisconnected: RuleType<"powerDisconnected"> = {
  clock: "none",
  momentary: false,
  check: () => [],
  judge: () => ({
    kind: "level",
    judge: (seen) => judgeAlarmOr(disconnected(seen.observation?.readings), "powerCut", "powerRestored", seen),
    facts({ observation }) {
      const voltage = observation?.readings.externalVoltage;
      return voltage === undefined ? {} : { voltage: rounded(voltage) };
    },
  }),
};

function disconnected(readings: Readings | undefined): ReadingSays {
  if (readings === undefined) return undefined;
  if (readings.powerConnected !== undefined) return !readings.powerConnected;
  if (readings.externalVoltage !== undefined) return readings.externalVoltage < openWire;
  // What is charged has a supply; what is not may be full.
  return readings.charging ? false : undefined;
}
