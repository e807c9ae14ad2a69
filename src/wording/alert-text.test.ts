import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import type { AlertFactsOf } from "../model/alert-facts.ts";
import type { AlertType } from "../model/alert-rule.ts";
import { alertText, wordsOf } from "./alert-text.ts";
import type { Reader } from "./show.ts";

const english: Reader = { language: "en", timeZone: "America/Bogota", units: "metric" };
const spanish: Reader = { language: "es", timeZone: "Europe/Madrid", units: "metric" };
const moment = Date.UTC(2026, 10, 21, 10, 29);

/** For each type its facts, and its texts when raised and when over after 12 minutes, in English and Spanish. */
const expected: { readonly [T in AlertType]: readonly [AlertFactsOf[T], string, string, string, string] } = {
  attributeEqual: [
    { attribute: "doorOpen", value: true, limit: true },
    "doorOpen is true",
    "doorOpen is no longer true after 12 min",
    "doorOpen es true",
    "doorOpen ya no es true tras 12 min",
  ],
  attributeGreater: [
    { attribute: "coolantTemperature", value: 104.5, limit: 100 },
    "coolantTemperature 104.5 °C over the limit of 100",
    "coolantTemperature 104.5 °C back under the limit of 100 after 12 min",
    "coolantTemperature 104,5 °C, por encima del límite de 100",
    "coolantTemperature 104,5 °C, de nuevo por debajo del límite de 100 tras 12 min",
  ],
  attributeLess: [
    { attribute: "io11", value: 12345.6, limit: 20000 },
    "io11 12,345.6 under the limit of 20,000",
    "io11 12,345.6 back over the limit of 20,000 after 12 min",
    "io11 12.345,6, por debajo del límite de 20.000",
    "io11 12.345,6, de nuevo por encima del límite de 20.000 tras 12 min",
  ],
  fuelDecrease: [
    { tank: 1, from: 64, to: 41, points: 23, limit: 10, minutes: 10 },
    "Fuel fell by 23 points to 41 % within 10 min",
    "Fuel no longer falling after 12 min",
    "Combustible: bajó 23 puntos hasta 41 % en 10 min",
    "Combustible: ya no baja tras 12 min",
  ],
  fuelIncrease: [
    { tank: 2, from: 41, to: 64.25, points: 23.25, limit: 10, minutes: 90 },
    "Fuel of tank 2 rose by 23.25 points to 64.3 % within 1 h 30 min",
    "Fuel of tank 2 no longer rising after 12 min",
    "Combustible del depósito 2: subió 23,25 puntos hasta 64,3 % en 1 h 30 min",
    "Combustible del depósito 2: ya no sube tras 12 min",
  ],
  fuelLess: [
    { tank: 1, value: 12, limit: 15 },
    "Fuel 12 % under the limit of 15",
    "Fuel 12 % back over the limit of 15 after 12 min",
    "Combustible 12 %, por debajo del límite de 15",
    "Combustible 12 %, de nuevo por encima del límite de 15 tras 12 min",
  ],
  driverAuthenticationFailed: [
    { driver: "04A1", seconds: 30 },
    "Driver 04A1 is not allowed",
    "An allowed driver has identified after 12 min",
    "El conductor 04A1 no está autorizado",
    "Se identificó un conductor autorizado tras 12 min",
  ],
  vehicleBatteryLess: [
    { value: 11.25, limit: 11.5 },
    "Vehicle battery 11.25 V under the limit of 11.5",
    "Vehicle battery 11.25 V back over the limit of 11.5 after 12 min",
    "Batería del vehículo 11,25 V, por debajo del límite de 11,5",
    "Batería del vehículo 11,25 V, de nuevo por encima del límite de 11,5 tras 12 min",
  ],
  alarm: [
    { alarm: "hardBraking" },
    "Hard braking",
    "Hard braking: over after 12 min",
    "Frenada brusca",
    "Frenada brusca: terminada tras 12 min",
  ],
  sos: [{}, "SOS", "SOS over after 12 min", "SOS", "SOS terminado tras 12 min"],
  expired: [
    { expires: moment, days: 1 },
    "Device expires in 1 day, on 21 Nov 2026, 05:29:00 GMT-5",
    "Device does not expire soon any more after 12 min",
    "El dispositivo vence en 1 día, el 21 nov 2026, 11:29:00 CET",
    "El dispositivo ya no vence pronto tras 12 min",
  ],
  idling: [
    { minutes: 12, limit: 10 },
    "Idling for 12 min (limit 10 min)",
    "Idling over after 24 min",
    "Al ralentí desde hace 12 min (límite 10 min)",
    "Ya no está al ralentí tras 24 min",
  ],
  trip: [{ event: "began" }, "Trip began", "Trip over after 12 min", "Viaje iniciado", "Viaje terminado tras 12 min"],
  parkedFor: [
    { minutes: 60, limit: 60 },
    "Parked for 1 h",
    "Parked no longer after 1 h 12 min",
    "Estacionado desde hace 1 h",
    "Ya no está estacionado tras 1 h 12 min",
  ],
  drivingFor: [
    { minutes: 250, limit: 240 },
    "Driven for 4 h 10 min (limit 4 h) without a rest",
    "Rest taken after 4 h 22 min",
    "Conducción desde hace 4 h 10 min (límite 4 h) sin descanso",
    "Descanso tomado tras 4 h 22 min",
  ],
  mileage: [
    { value: 10_003.24, limit: 10_000 },
    "Mileage 10,003.2 km has reached 10,000",
    "Mileage 10,003.2 km back under the limit of 10,000 after 12 min",
    "Kilometraje 10.003,2 km, ha alcanzado 10.000",
    "Kilometraje 10.003,2 km, de nuevo por debajo del límite de 10.000 tras 12 min",
  ],
  lowBattery: [
    { value: 18, limit: 20 },
    "Tracker battery 18 % under the limit of 20",
    "Tracker battery 18 % back over the limit of 20 after 12 min",
    "Batería del rastreador 18 %, por debajo del límite de 20",
    "Batería del rastreador 18 %, de nuevo por encima del límite de 20 tras 12 min",
  ],
  offline: [
    { minutes: 1500, limit: 1440, lastHeard: moment },
    "Not heard of for 1 d 1 h (limit 1 d), last on 21 Nov 2026, 05:29:00 GMT-5",
    "Heard of again after 1 d 1 h",
    "Sin noticias desde hace 1 d 1 h (límite 1 d), las últimas el 21 nov 2026, 11:29:00 CET",
    "Con noticias de nuevo tras 1 d 1 h",
  ],
  rpmOver: [
    { value: 4200, limit: 4000 },
    "Engine speed 4,200 rpm over the limit of 4,000",
    "Engine speed 4,200 rpm back under the limit of 4,000 after 12 min",
    "Régimen del motor 4200 rpm, por encima del límite de 4000",
    "Régimen del motor 4200 rpm, de nuevo por debajo del límite de 4000 tras 12 min",
  ],
  speedLess: [
    { value: 12, limit: 20 },
    "Speed 12 km/h under the limit of 20",
    "Speed 12 km/h back over the limit of 20 after 12 min",
    "Velocidad 12 km/h, por debajo del límite de 20",
    "Velocidad 12 km/h, de nuevo por encima del límite de 20 tras 12 min",
  ],
  notMoving: [
    { minutes: 30, limit: 30 },
    "Not moving for 30 min",
    "Moving again after 42 min",
    "Sin movimiento desde hace 30 min",
    "En movimiento de nuevo tras 42 min",
  ],
  speedOver: [
    { value: 92, limit: 80 },
    "Speed 92 km/h over the limit of 80",
    "Speed 92 km/h back under the limit of 80 after 12 min",
    "Velocidad 92 km/h, por encima del límite de 80",
    "Velocidad 92 km/h, de nuevo por debajo del límite de 80 tras 12 min",
  ],
  vibration: [{}, "Vibration", "Vibration over after 12 min", "Vibración", "Vibración terminada tras 12 min"],
  gpsOff: [
    { minutes: 15, limit: 10, antenna: false },
    "No GPS position for 15 min (limit 10 min)",
    "GPS position again after 27 min",
    "Sin posición GPS desde hace 15 min (límite 10 min)",
    "Con posición GPS de nuevo tras 27 min",
  ],
  powerDisconnected: [
    { voltage: 12.4 },
    "Tracker disconnected from power, last 12.4 V",
    "Tracker connected to power again after 12 min",
    "Rastreador desconectado de la alimentación, última 12,4 V",
    "Rastreador conectado de nuevo a la alimentación tras 12 min",
  ],
  gpsNoSignal: [
    { minutes: 10, limit: 10 },
    "No GPS signal for 10 min",
    "GPS signal again after 22 min",
    "Sin señal GPS desde hace 10 min",
    "Con señal GPS de nuevo tras 22 min",
  ],
  inputOn: [
    { input: 1 },
    "Input 1 on",
    "Input 1 no longer on after 12 min",
    "Entrada 1 activada",
    "Entrada 1 ya no activada tras 12 min",
  ],
  inputOff: [
    { input: 2 },
    "Input 2 off",
    "Input 2 no longer off after 12 min",
    "Entrada 2 desactivada",
    "Entrada 2 ya no desactivada tras 12 min",
  ],
  inputActiveFor: [
    { input: 3, minutes: 65, limit: 60 },
    "Input 3 active for 1 h 5 min (limit 1 h)",
    "Input 3 no longer active after 1 h 17 min",
    "Entrada 3 activa desde hace 1 h 5 min (límite 1 h)",
    "Entrada 3 ya no activa tras 1 h 17 min",
  ],
  inputAccumulated: [
    { input: 4, minutes: 600, limit: 600 },
    "Input 4 active for 10 h in total",
    "Input 4 back under its total after 12 min",
    "Entrada 4 activa 10 h en total",
    "Entrada 4 de nuevo por debajo de su total tras 12 min",
  ],
  temperatureGreater: [
    { probe: 1, value: 8.5, limit: 8 },
    "Temperature 8.5 °C over the limit of 8",
    "Temperature 8.5 °C back under the limit of 8 after 12 min",
    "Temperatura 8,5 °C, por encima del límite de 8",
    "Temperatura 8,5 °C, de nuevo por debajo del límite de 8 tras 12 min",
  ],
  temperatureLess: [
    { probe: 2, value: -21, limit: -20 },
    "Temperature of probe 2 -21 °C under the limit of -20",
    "Temperature of probe 2 -21 °C back over the limit of -20 after 12 min",
    "Temperatura de la sonda 2 -21 °C, por debajo del límite de -20",
    "Temperatura de la sonda 2 -21 °C, de nuevo por encima del límite de -20 tras 12 min",
  ],
  allowedZone: [
    { zone: "Depot" },
    "Left the allowed zone Depot",
    "Back in the allowed zone Depot after 12 min",
    "Salió de la zona permitida Depot",
    "De nuevo en la zona permitida Depot tras 12 min",
  ],
  forbiddenZone: [
    { zone: "Harbour" },
    "Entered the forbidden zone Harbour",
    "Left the forbidden zone Harbour after 12 min",
    "Entró en la zona prohibida Harbour",
    "Salió de la zona prohibida Harbour tras 12 min",
  ],
  controlZone: [
    { zone: "Yard", event: "left" },
    "Left the zone Yard",
    "Entered the zone Yard again after 12 min",
    "Salió de la zona Yard",
    "Entró en la zona Yard de nuevo tras 12 min",
  ],
  controlPoint: [
    { zone: "Customer 7", event: "entered", minutes: 5 },
    "Arrived at Customer 7",
    "Left Customer 7 again after 12 min",
    "Llegó a Customer 7",
    "Salió de Customer 7 de nuevo tras 12 min",
  ],
  route: [
    { zone: "North road" },
    "Strayed from the route North road",
    "Back on the route North road after 12 min",
    "Se desvió de la ruta North road",
    "De nuevo en la ruta North road tras 12 min",
  ],
};

const types = Object.keys(expected).filter((name): name is AlertType => name in expected);

describe("alert text", () => {
  for (const type of types)
    it(`of ${type}`, () => {
      const [facts, ...texts] = expected[type];
      const raised = { type, phase: "raised", facts: { ...facts } } as const;
      const over = { type, phase: "over", facts: { ...facts, lastedMinutes: 12 } } as const;
      assert.deepEqual(
        [alertText(raised, english), alertText(over, english), alertText(raised, spanish), alertText(over, spanish)],
        texts,
      );
    });

  const cases: readonly [AlertType, Record<string, string | number | boolean>, string, string][] = [
    [
      "driverAuthenticationFailed",
      { seconds: 90 },
      "No driver identified within 1 min 30 s",
      "Ningún conductor identificado en 1 min 30 s",
    ],
    [
      "expired",
      { expires: moment, days: 0 },
      "Device expired on 21 Nov 2026, 05:29:00 GMT-5",
      "El dispositivo venció el 21 nov 2026, 11:29:00 CET",
    ],
    [
      "fuelDecrease",
      { tank: 1, from: 310.5, to: 250.5, litres: 60, limit: 40, minutes: 15 },
      "Fuel fell by 60 l to 250.5 l within 15 min",
      "Combustible: bajó 60 l hasta 250,5 l en 15 min",
    ],
    [
      "fuelLess",
      { tank: 2, value: 38.2, limit: 40, unit: "litres" },
      "Fuel of tank 2 38.2 l under the limit of 40",
      "Combustible del depósito 2 38,2 l, por debajo del límite de 40",
    ],
    ["trip", { event: "ended", minutes: 95 }, "Trip ended after 1 h 35 min", "Viaje terminado tras 1 h 35 min"],
    ["alarm", { alarm: "general", code: "119" }, "Alarm 119", "Alarma 119"],
    ["alarm", { alarm: "ofANewerVersion" }, "ofANewerVersion", "ofANewerVersion"],
    ["lowBattery", { limit: 20 }, "Tracker battery low", "Batería del rastreador baja"],
    ["gpsOff", { minutes: 0, limit: 10, antenna: true }, "GPS antenna cut", "Antena GPS cortada"],
    ["powerDisconnected", {}, "Tracker disconnected from power", "Rastreador desconectado de la alimentación"],
    ["controlZone", { zone: "Yard", event: "entered" }, "Entered the zone Yard", "Entró en la zona Yard"],
    ["controlPoint", { zone: "Yard", event: "left", minutes: 0.5 }, "Left Yard after 30 s", "Salió de Yard tras 30 s"],
    // A value never looks like its limit.
    [
      "speedOver",
      { value: 80.04, limit: 80 },
      "Speed 80.04 km/h over the limit of 80",
      "Velocidad 80,04 km/h, por encima del límite de 80",
    ],
  ];
  for (const [type, facts, inEnglish, inSpanish] of cases)
    it(`of ${type} with ${JSON.stringify(facts)}`, () => {
      const alert = { type, phase: "raised", facts } as const;
      assert.deepEqual([alertText(alert, english), alertText(alert, spanish)], [inEnglish, inSpanish]);
    });

  it("of what is over because a condition ended says so, and nothing of what it did not do", () => {
    const over = (facts: Record<string, string | number | boolean>, reader: Reader) =>
      alertText(
        { type: "forbiddenZone", phase: "over", facts: { zone: "Harbour", lastedMinutes: 12, ...facts } },
        reader,
      );
    const ignition = { condition: "ignition", operator: "equal", wanted: true };
    const fuel = { condition: "fuel", operator: "greater", wanted: 20.5 };
    const inside = { condition: "Yard", operator: "inside" };
    const outside = { condition: "Yard", operator: "outside" };
    const begins = "Entered the forbidden zone Harbour: over after 12 min, because";
    assert.equal(over(ignition, english), `${begins} ignition is no longer true`);
    assert.equal(over(fuel, english), `${begins} fuel is no longer over 20.5`);
    assert.equal(over({ ...fuel, operator: "less" }, english), `${begins} fuel is no longer under 20.5`);
    assert.equal(over(inside, english), `${begins} it is no longer in the zone Yard`);
    assert.equal(over(outside, english), `${begins} it is no longer outside the zone Yard`);
    const empieza = "Entró en la zona prohibida Harbour: terminada tras 12 min, porque";
    assert.equal(over(ignition, spanish), `${empieza} ignition ya no es true`);
    assert.equal(over(fuel, spanish), `${empieza} fuel ya no es mayor que 20,5`);
    assert.equal(over({ ...fuel, operator: "less" }, spanish), `${empieza} fuel ya no es menor que 20,5`);
    assert.equal(over(inside, spanish), `${empieza} ya no está en la zona Yard`);
    assert.equal(over(outside, spanish), `${empieza} ya no está fuera de la zona Yard`);
  });

  it("in imperial units", () => {
    const imperial: Reader = { ...english, units: "imperial" };
    const text = (type: AlertType, facts: Record<string, string | number>) =>
      alertText({ type, phase: "raised", facts }, imperial);
    assert.equal(text("speedOver", { value: 92, limit: 80 }), "Speed 57.2 mph over the limit of 49.7");
    assert.equal(text("mileage", { value: 1609.344, limit: 1600 }), "Mileage 1,000 mi has reached 994.2");
    assert.equal(
      text("temperatureLess", { probe: 1, value: -40, limit: 0 }),
      "Temperature -40 °F under the limit of 32",
    );
    assert.equal(
      text("attributeGreater", { attribute: "odometer", value: 200, limit: 100 }),
      "odometer 124.3 mi over the limit of 62.1",
    );
  });

  it("of a zone that the runtime does not know is in UTC, and says so", () => {
    const alert = { type: "expired", phase: "raised", facts: { expires: moment, days: 0 } } as const;
    assert.equal(
      alertText(alert, { ...english, timeZone: "Mars/Olympus" }),
      "Device expired on 21 Nov 2026, 10:29:00 UTC",
    );
  });
});

test("whatever facts an alert has, its text is a text", () => {
  const value = fc.oneof(fc.string(), fc.double(), fc.boolean());
  const names = fc.constantFrom(
    "value",
    "limit",
    "zone",
    "minutes",
    "expires",
    "days",
    "tank",
    "lastedMinutes",
    "__proto__",
  );
  fc.assert(
    fc.property(fc.constantFrom(...types), fc.boolean(), fc.dictionary(names, value), (type, raised, facts) => {
      for (const reader of [english, spanish]) {
        const text = alertText(
          { type, phase: raised ? "raised" : "over", facts: { ...expected[type][0], ...facts } },
          reader,
        );
        assert.ok(text.length > 0 && !text.includes("undefined"), text);
        assert.equal(
          alertText({ type, phase: "over", facts: {} }, reader),
          wordsOf(reader.language).alerts[type].title,
        );
      }
    }),
  );
});
