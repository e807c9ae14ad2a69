/**
 * The closed catalogue of readings: what a tracker can report beside its position, each with one meaning and one unit.
 * A value that is not in this catalogue goes to `attributes` under the name that the vendor's manual gives it.
 * Percentages are 0 to 100. What a device did not report is absent, never zero.
 */
export interface Readings {
  /** Charge of the tracker's own battery, %. */
  readonly battery?: number;
  /** Voltage of the tracker's own battery, V. */
  readonly batteryVoltage?: number;
  /** Voltage of the vehicle (external supply), V. */
  readonly externalVoltage?: number;
  /** The tracker's battery is being charged. */
  readonly charging?: boolean;
  /** External supply is connected. */
  readonly powerConnected?: boolean;
  readonly ignition?: boolean;
  /** The tracker's own sensor says that it moves. */
  readonly motion?: boolean;
  /** Fuel level of tank 1 and 2, %. */
  readonly fuel?: number;
  readonly fuel2?: number;
  /** Fuel level of tank 1 and 2 in litres, where the tracker reports a volume. */
  readonly fuelVolume?: number;
  readonly fuelVolume2?: number;
  /** Fuel used in total, l. */
  readonly fuelUsed?: number;
  /** Temperature of probe 1 to 4, °C. */
  readonly temperature?: number;
  readonly temperature2?: number;
  readonly temperature3?: number;
  readonly temperature4?: number;
  /** Temperature of the tracker itself, °C. */
  readonly deviceTemperature?: number;
  /** Engine coolant, °C. */
  readonly coolantTemperature?: number;
  /** Relative humidity, %. */
  readonly humidity?: number;
  /** Engine speed, 1/min. */
  readonly rpm?: number;
  /** Engine load, %. */
  readonly engineLoad?: number;
  /** Throttle or accelerator position, %. */
  readonly throttle?: number;
  /** Engine running time in total, s. */
  readonly engineSeconds?: number;
  /** Speed that the vehicle's bus reports, km/h. */
  readonly vehicleSpeed?: number;
  /** Odometer that the tracker or vehicle reports, km. (The service's own mileage is derived, not read.) */
  readonly odometer?: number;
  /** Trip odometer that the tracker reports, km. */
  readonly tripOdometer?: number;
  /** Satellites used for the fix. */
  readonly satellites?: number;
  /** Satellites in view. */
  readonly satellitesVisible?: number;
  readonly hdop?: number;
  readonly vdop?: number;
  readonly pdop?: number;
  /** Radius that the tracker gives for its position, m. */
  readonly accuracy?: number;
  /** Cellular signal, %. */
  readonly signal?: number;
  /** Cellular signal, dBm (negative). */
  readonly rssi?: number;
  /** Digital inputs and outputs 1 to 8: true is active. */
  readonly input1?: boolean;
  readonly input2?: boolean;
  readonly input3?: boolean;
  readonly input4?: boolean;
  readonly input5?: boolean;
  readonly input6?: boolean;
  readonly input7?: boolean;
  readonly input8?: boolean;
  readonly output1?: boolean;
  readonly output2?: boolean;
  readonly output3?: boolean;
  readonly output4?: boolean;
  readonly output5?: boolean;
  readonly output6?: boolean;
  readonly output7?: boolean;
  readonly output8?: boolean;
  /** Analogue inputs 1 to 4, V. */
  readonly analog1?: number;
  readonly analog2?: number;
  readonly analog3?: number;
  readonly analog4?: number;
  /** A door is open. */
  readonly doorOpen?: boolean;
  /** The alarm of the vehicle is armed. */
  readonly armed?: boolean;
  /** The engine or fuel supply is cut by the tracker. */
  readonly blocked?: boolean;
  /** Identifier of the driver (iButton, RFID card, licence). */
  readonly driverId?: string;
  /** Vehicle identification number. */
  readonly vin?: string;
  /** Identifier of the SIM card. */
  readonly iccid?: string;
  /** Steps counted. */
  readonly steps?: number;
  /** Heart rate, 1/min. */
  readonly heartRate?: number;
}

/** The name of a reading. */
export type ReadingName = keyof Readings;

/** What kind of value a reading holds. */
export type ReadingKind = "number" | "boolean" | "string";

type KindOf<T> = T extends number ? "number" : T extends boolean ? "boolean" : "string";

/** Kind of every reading: lets stored text become a typed value again, and a property test make any reading. */
export const readingKinds: { readonly [K in ReadingName]-?: KindOf<NonNullable<Readings[K]>> } = {
  battery: "number",
  batteryVoltage: "number",
  externalVoltage: "number",
  charging: "boolean",
  powerConnected: "boolean",
  ignition: "boolean",
  motion: "boolean",
  fuel: "number",
  fuel2: "number",
  fuelVolume: "number",
  fuelVolume2: "number",
  fuelUsed: "number",
  temperature: "number",
  temperature2: "number",
  temperature3: "number",
  temperature4: "number",
  deviceTemperature: "number",
  coolantTemperature: "number",
  humidity: "number",
  rpm: "number",
  engineLoad: "number",
  throttle: "number",
  engineSeconds: "number",
  vehicleSpeed: "number",
  odometer: "number",
  tripOdometer: "number",
  satellites: "number",
  satellitesVisible: "number",
  hdop: "number",
  vdop: "number",
  pdop: "number",
  accuracy: "number",
  signal: "number",
  rssi: "number",
  input1: "boolean",
  input2: "boolean",
  input3: "boolean",
  input4: "boolean",
  input5: "boolean",
  input6: "boolean",
  input7: "boolean",
  input8: "boolean",
  output1: "boolean",
  output2: "boolean",
  output3: "boolean",
  output4: "boolean",
  output5: "boolean",
  output6: "boolean",
  output7: "boolean",
  output8: "boolean",
  analog1: "number",
  analog2: "number",
  analog3: "number",
  analog4: "number",
  doorOpen: "boolean",
  armed: "boolean",
  blocked: "boolean",
  driverId: "string",
  vin: "string",
  iccid: "string",
  steps: "number",
  heartRate: "number",
};
