import { type Accessory, celsius, count, each, flag, number, percent, type ReadingRow, text } from "./reading-rows.ts";

const to4 = [1, 2, 3, 4] as const;
const to8 = [...to4, 5, 6, 7, 8] as const;
const from2to4 = [2, 3, 4] as const;
const from2to8 = [...from2to4, 5, 6, 7, 8] as const;
const to16 = [...to8, 9, 10, 11, 12, 13, 14, 15, 16] as const;

/**
 * The closed catalogue of readings: what a tracker can report beside its position, each with one meaning, one unit and
 * a range. Types, names of attributes, the documentation of the API, the choices of alert rules and the generated pages
 * are made of it. A value that is not in this catalogue goes to `attributes` under the name that the vendor's manual
 * gives it. What a device did not report is absent, never zero.
 */
export const readingRows = {
  // Power.
  battery: percent("Tracker's battery", "Batería del rastreador"),
  batteryVoltage: number("V", 0, 1000, "Voltage of the tracker's battery", "Voltaje de la batería del rastreador"),
  externalVoltage: number("V", 0, 1000, "Voltage of the vehicle", "Voltaje del vehículo"),
  charging: flag("Tracker's battery is being charged", "Batería del rastreador en carga"),
  powerConnected: flag("Connected to the vehicle's power", "Conectado a la alimentación del vehículo"),
  // Movement.
  ignition: flag("Ignition", "Encendido"),
  motion: flag("Tracker's own sensor feels motion", "El sensor del rastreador detecta movimiento"),
  accelerationX: number("g", -100, 100, "Acceleration along X", "Aceleración en X"),
  accelerationY: number("g", -100, 100, "Acceleration along Y", "Aceleración en Y"),
  accelerationZ: number("g", -100, 100, "Acceleration along Z", "Aceleración en Z"),
  // Fuel.
  fuel: percent("Fuel in tank 1", "Combustible del tanque 1"),
  fuel2: percent("Fuel in tank 2", "Combustible del tanque 2"),
  fuelVolume: number("l", 0, 100_000, "Volume of fuel in tank 1", "Volumen de combustible del tanque 1"),
  fuelVolume2: number("l", 0, 100_000, "Volume of fuel in tank 2", "Volumen de combustible del tanque 2"),
  fuelUsed: number("l", 0, 1e8, "Fuel used in total", "Combustible consumido en total"),
  fuelRate: number("l/h", 0, 10_000, "Fuel use by time", "Consumo por tiempo"),
  fuelConsumption: number("l/100 km", 0, 10_000, "Fuel use by distance", "Consumo por distancia"),
  fuelTemperature: celsius("Temperature of the fuel", "Temperatura del combustible"),
  adBlue: percent("AdBlue", "AdBlue"),
  // Sensors.
  temperature: celsius("Temperature of probe 1", "Temperatura de la sonda 1"),
  ...each("temperature", from2to8, (n) => celsius(`Temperature of probe ${n}`, `Temperatura de la sonda ${n}`)),
  humidity: percent("Relative humidity, probe 1", "Humedad relativa, sonda 1"),
  ...each("humidity", from2to4, (n) => percent(`Relative humidity, probe ${n}`, `Humedad relativa, sonda ${n}`)),
  deviceTemperature: celsius("Temperature of the tracker", "Temperatura del rastreador"),
  ambientTemperature: celsius("Temperature of the air outside", "Temperatura exterior"),
  airPressure: number("kPa", 0, 200, "Air pressure", "Presión atmosférica"),
  illuminance: number("lx", 0, 200_000, "Light", "Luz"),
  co2: number("ppm", 0, 100_000, "Carbon dioxide", "Dióxido de carbono"),
  loadWeight: number("kg", 0, 1_000_000, "Weight of the load", "Peso de la carga"),
  passengers: number("", 0, 1000, "Passengers", "Pasajeros"),
  // The engine and the vehicle's bus.
  rpm: number("1/min", 0, 20_000, "Engine speed", "Revoluciones del motor"),
  engineLoad: percent("Engine load", "Carga del motor"),
  engineTorque: number("%", -125, 125, "Engine torque", "Par del motor"),
  throttle: percent("Throttle or accelerator", "Acelerador"),
  coolantTemperature: celsius("Temperature of the coolant", "Temperatura del refrigerante"),
  oilTemperature: celsius("Temperature of the engine oil", "Temperatura del aceite"),
  intakeTemperature: celsius("Temperature of the intake air", "Temperatura del aire de admisión"),
  intakePressure: number("kPa", 0, 1000, "Pressure in the intake manifold", "Presión en el colector de admisión"),
  airFlow: number("g/s", 0, 10_000, "Mass of the intake air", "Masa del aire de admisión"),
  oilPressure: number("kPa", 0, 10_000, "Pressure of the engine oil", "Presión del aceite"),
  fuelPressure: number("kPa", 0, 1_000_000, "Pressure of the fuel", "Presión del combustible"),
  engineSeconds: number("s", 0, 1e10, "Engine running time", "Tiempo de motor en marcha"),
  idleSeconds: number("s", 0, 1e10, "Idling time", "Tiempo al ralentí"),
  drivingSeconds: number("s", 0, 1e10, "Driving time", "Tiempo de conducción"),
  vehicleSpeed: number("km/h", 0, 500, "Speed that the vehicle reports", "Velocidad según el vehículo"),
  odometer: number("km", 0, 1e8, "Odometer that the tracker reports", "Odómetro según el rastreador"),
  tripOdometer: number("km", 0, 1e7, "Trip odometer", "Odómetro parcial"),
  serviceDistance: number("km", -1e6, 1e6, "Distance to the next service", "Distancia hasta el próximo servicio"),
  dtcs: text("Trouble codes", "Códigos de avería"),
  dtcCount: number("", 0, 65_535, "Number of trouble codes", "Número de códigos de avería"),
  engineLamp: flag("Malfunction lamp", "Testigo de avería"),
  vin: text("Vehicle identification number", "Número de identificación del vehículo"),
  ...each("axleWeight", to8, (n) => number("kg", 0, 100_000, `Weight on axle ${n}`, `Peso sobre el eje ${n}`)),
  ...each("tyrePressure", to16, (n) => number("kPa", 0, 5000, `Pressure of tyre ${n}`, `Presión del neumático ${n}`)),
  ...each("tyreTemperature", to16, (n) => celsius(`Temperature of tyre ${n}`, `Temperatura del neumático ${n}`)),
  tractionBattery: percent("Traction battery", "Batería de tracción"),
  tractionVoltage: number("V", 0, 2000, "Voltage of the traction battery", "Voltaje de la batería de tracción"),
  tractionCurrent: number("A", -5000, 5000, "Current of the traction battery", "Corriente de la batería de tracción"),
  remainingRange: number("km", 0, 10_000, "Range that is left", "Autonomía"),
  brake: flag("Brake pedal", "Pedal de freno"),
  handBrake: flag("Hand brake", "Freno de mano"),
  clutch: flag("Clutch pedal", "Pedal de embrague"),
  cruiseControl: flag("Cruise control", "Control de crucero"),
  powerTakeOff: flag("Power take-off", "Toma de fuerza", { type: "powerTakeOff", yes: "on", no: "off" }),
  airConditioning: flag("Air conditioning", "Aire acondicionado", { type: "airConditioning", yes: "on", no: "off" }),
  seatBelt: flag("Seat belt is fastened", "Cinturón abrochado", {
    type: "seatBelt",
    yes: "fastened",
    no: "unfastened",
  }),
  // The position and the network.
  satellites: number("", 0, 255, "Satellites used", "Satélites usados"),
  satellitesVisible: number("", 0, 255, "Satellites in view", "Satélites visibles"),
  hdop: number("", 0, 100, "HDOP", "HDOP"),
  vdop: number("", 0, 100, "VDOP", "VDOP"),
  pdop: number("", 0, 100, "PDOP", "PDOP"),
  accuracy: number("m", 0, 1e7, "Radius that the tracker gives for its position", "Radio de la posición"),
  signal: percent("Mobile signal", "Señal móvil"),
  rssi: number("dBm", -200, 0, "Mobile signal", "Señal móvil"),
  roaming: flag("Roaming", "Itinerancia"),
  operator: text("Mobile network", "Red móvil"),
  networkType: text("Generation of the mobile network", "Generación de la red móvil"),
  iccid: text("Number of the SIM card", "Número de la tarjeta SIM"),
  // Inputs and outputs.
  ...each("input", to8, (n) => flag(`Digital input ${n}`, `Entrada digital ${n}`)),
  ...each("output", to8, (n) => flag(`Digital output ${n}`, `Salida digital ${n}`)),
  ...each("analog", to8, (n) => number("V", -1000, 1000, `Analogue input ${n}`, `Entrada analógica ${n}`)),
  ...each("counter", to8, (n) => count(`Pulses of counter ${n}`, `Pulsos del contador ${n}`)),
  // The vehicle's parts.
  doorOpen: flag("A door is open", "Puerta abierta", { type: "door", yes: "open", no: "closed" }),
  locked: flag("Lock is closed", "Cerradura cerrada", { type: "lock", yes: "locked", no: "unlocked" }),
  armed: flag("Vehicle's alarm is armed", "Alarma del vehículo armada", {
    type: "alarm",
    yes: "armed",
    no: "disarmed",
  }),
  blocked: flag("Engine or fuel is cut by the tracker", "Motor o combustible cortado por el rastreador", {
    type: "immobilizer",
    yes: "on",
    no: "off",
  }),
  // The driver.
  driverId: text("Driver (iButton, card, licence)", "Conductor (iButton, tarjeta, licencia)"),
  driver2Id: text("Second driver", "Segundo conductor"),
  driverName: text("Driver's name", "Nombre del conductor"),
  driverState: text("Driver's state by the tachograph", "Estado del conductor según el tacógrafo"),
  driver2State: text("Second driver's state by the tachograph", "Estado del segundo conductor según el tacógrafo"),
  // A person.
  steps: count("Steps", "Pasos"),
  rolls: count("Times turned over", "Vueltas en la cama"),
  sleepSeconds: number("s", 0, 1e6, "Time asleep", "Tiempo de sueño"),
  heartRate: number("bpm", 0, 300, "Heart rate", "Frecuencia cardíaca"),
  systolic: number("mmHg", 0, 400, "Systolic blood pressure", "Presión sistólica"),
  diastolic: number("mmHg", 0, 400, "Diastolic blood pressure", "Presión diastólica"),
  bloodOxygen: percent("Oxygen in the blood", "Oxígeno en la sangre"),
  bodyTemperature: number("°C", 0, 60, "Body temperature", "Temperatura corporal"),
  worn: flag("The watch is on the wrist", "Reloj puesto"),
  // The tracker.
  firmware: text("Firmware", "Firmware"),
} as const;

/** The name of a reading. */
export type ReadingName = keyof typeof readingRows;

/** What kind of value a reading holds. */
export type ReadingKind = (typeof readingRows)[ReadingName]["kind"];

type ValueOf<K extends ReadingKind> = K extends "number" ? number : K extends "boolean" ? boolean : string;
type NamesOf<K extends ReadingKind> = {
  [N in ReadingName]: (typeof readingRows)[N]["kind"] extends K ? N : never;
}[ReadingName];

/** Names of the readings that are numbers. */
export type NumberReading = NamesOf<"number">;
/** Names of the readings that are true or false. */
export type FlagReading = NamesOf<"boolean">;

/** What a tracker reported, in the units of the catalogue. */
export type Readings = { readonly [N in ReadingName]?: ValueOf<(typeof readingRows)[N]["kind"]> };

/** Readings while they are gathered. */
export type ReadingsDraft = { -readonly [N in ReadingName]?: Readings[N] };

const names: ReadonlySet<string> = new Set(Object.keys(readingRows));

/** Whether the catalogue has a reading of that name. */
export function isReading(name: string): name is ReadingName {
  return names.has(name);
}

/** All names, in the order of the catalogue. */
export const readingNames: readonly ReadingName[] = [...names].filter(isReading);

/** Readings that the API's Location has a field of its own for, and whether that is declared an integer. */
export const locationFields = {
  battery: "integer",
  fuel: "integer",
  fuel2: "integer",
  rpm: "integer",
  temperature: "number",
  temperature2: "number",
} as const satisfies { readonly [N in NumberReading]?: "integer" | "number" };

/** Whether a number is one that the reading can have. */
export function isInRange(name: NumberReading, value: number): boolean {
  const { least, most } = readingRows[name];
  return value >= least && value <= most;
}

/** The readings that the API shows in `accessoriesAttributes`. */
export const accessories: ReadonlyMap<ReadingName, Accessory> = new Map(
  readingNames.flatMap((name) => {
    const row: ReadingRow = readingRows[name];
    return row.kind === "boolean" && row.accessory !== undefined ? [[name, row.accessory] as const] : [];
  }),
);
