import { alarmTexts } from "../model/alarms.ts";
import type { AlertFactsOf } from "../model/alert-facts.ts";
import type { Show } from "./show.ts";
import { type Quantity, quantityOf } from "./units.ts";
import { type Against, alarmText, type Ended, type Lasts, lasting, levelOf, type Words } from "./words.ts";

const after = ({ lastedMinutes }: Ended, show: Show) => `after ${show.duration(lastedMinutes)}`;
/** Of what is told when it has gone on for a while: all of it. */
const afterAll = ({ minutes, lastedMinutes }: Ended & { readonly minutes: number }, show: Show) =>
  after({ lastedMinutes: minutes + lastedMinutes }, show);

const past = (name: string, quantity: Quantity, way: "over" | "under", facts: Against, show: Show) => {
  const [value, limit] = show.against(quantity, facts.value, facts.limit);
  return `${name} ${value} ${way} the limit of ${limit}`;
};

const back = (name: string, quantity: Quantity, way: "over" | "under", facts: Against & Ended, show: Show) => {
  const [value, limit] = show.against(quantity, facts.value, facts.limit);
  return `${name} ${value} back ${way} the limit of ${limit} ${after(facts, show)}`;
};

const limit = (facts: Lasts, show: Show) => lasting(facts, show, "limit");

const fuel = (tank: 1 | 2) => (tank === 1 ? "Fuel" : "Fuel of tank 2");
const fuelChanged = (how: string, facts: AlertFactsOf["fuelDecrease"], show: Show) => {
  const { tank, points = 0, litres, to, minutes } = facts;
  const amount = litres === undefined ? `${show.number(points)} points` : show.measure("volume", litres);
  const level = show.measure(litres === undefined ? "share" : "volume", to);
  return `${fuel(tank)} ${how} by ${amount} to ${level} within ${show.duration(minutes)}`;
};
const temperature = (probe: 1 | 2) => (probe === 1 ? "Temperature" : "Temperature of probe 2");

/** English. */
export const en: Words = {
  alerts: {
    attributeEqual: {
      title: "Attribute equal",
      raised: ({ attribute, value }, show) => `${attribute} is ${show.value(value)}`,
      over: (facts, show) => `${facts.attribute} is no longer ${show.value(facts.limit)} ${after(facts, show)}`,
    },
    attributeGreater: {
      title: "Attribute over its limit",
      raised: (facts, show) => past(facts.attribute, quantityOf(facts.attribute), "over", facts, show),
      over: (facts, show) => back(facts.attribute, quantityOf(facts.attribute), "under", facts, show),
    },
    attributeLess: {
      title: "Attribute under its limit",
      raised: (facts, show) => past(facts.attribute, quantityOf(facts.attribute), "under", facts, show),
      over: (facts, show) => back(facts.attribute, quantityOf(facts.attribute), "over", facts, show),
    },
    fuelDecrease: {
      title: "Fuel fell",
      raised: (facts, show) => fuelChanged("fell", facts, show),
      over: (facts, show) => `${fuel(facts.tank)} no longer falling ${after(facts, show)}`,
    },
    fuelIncrease: {
      title: "Fuel rose",
      raised: (facts, show) => fuelChanged("rose", facts, show),
      over: (facts, show) => `${fuel(facts.tank)} no longer rising ${after(facts, show)}`,
    },
    fuelLess: {
      title: "Fuel low",
      raised: (facts, show) => past(fuel(facts.tank), levelOf(facts), "under", facts, show),
      over: (facts, show) => back(fuel(facts.tank), levelOf(facts), "over", facts, show),
    },
    driverAuthenticationFailed: {
      title: "Driver not authenticated",
      raised: ({ driver, seconds }, show) =>
        driver === undefined
          ? `No driver identified within ${show.duration(seconds / 60)}`
          : `Driver ${driver} is not allowed`,
      over: (facts, show) =>
        `${facts.ended === "ignitionOff" ? "Ignition off" : "An allowed driver has identified"} ${after(facts, show)}`,
    },
    vehicleBatteryLess: {
      title: "Vehicle battery low",
      raised: (facts, show) => past("Vehicle battery", "voltage", "under", facts, show),
      over: (facts, show) => back("Vehicle battery", "voltage", "over", facts, show),
    },
    sos: {
      title: "SOS",
      raised: () => "SOS",
      over: (facts, show) => `SOS over ${after(facts, show)}`,
    },
    alarm: {
      title: "Alarm of the tracker",
      raised: (facts) => alarmText(alarmTexts, facts),
      over: (facts, show) => `${alarmText(alarmTexts, facts)}: over ${after(facts, show)}`,
    },
    expired: {
      title: "Expiry of the device",
      raised: ({ expires, days }, show) =>
        days <= 0
          ? `Device expired on ${show.moment(expires)}`
          : `Device expires in ${show.number(days)} ${days === 1 ? "day" : "days"}, on ${show.moment(expires)}`,
      over: (facts, show) => `Device does not expire soon any more ${after(facts, show)}`,
    },
    idling: {
      title: "Idling",
      raised: (facts, show) => `Idling for ${limit(facts, show)}`,
      over: (facts, show) => `Idling over ${afterAll(facts, show)}`,
    },
    trip: {
      title: "Trip",
      raised: ({ event, minutes = 0 }, show) =>
        event === "ended" ? `Trip ended after ${show.duration(minutes)}` : "Trip began",
      over: (facts, show) => `Trip over ${after(facts, show)}`,
    },
    parkedFor: {
      title: "Parked for long",
      raised: (facts, show) => `Parked for ${limit(facts, show)}`,
      over: (facts, show) => `Parked no longer ${afterAll(facts, show)}`,
    },
    drivingFor: {
      title: "Driven without a rest",
      raised: (facts, show) => `Driven for ${limit(facts, show)} without a rest`,
      over: (facts, show) => `Rest taken ${afterAll(facts, show)}`,
    },
    mileage: {
      title: "Mileage reached",
      raised: (facts, show) => {
        const [value, reached] = show.against("distance", facts.value, facts.limit);
        return `Mileage ${value} has reached ${reached}`;
      },
      over: (facts, show) => back("Mileage", "distance", "under", facts, show),
    },
    lowBattery: {
      title: "Tracker battery low",
      raised: (facts, show) =>
        facts.value === undefined
          ? "Tracker battery low"
          : past("Tracker battery", "share", "under", { value: facts.value, limit: facts.limit }, show),
      over: ({ value, limit: least, lastedMinutes }, show) =>
        value === undefined
          ? `Tracker battery no longer low ${after({ lastedMinutes }, show)}`
          : back("Tracker battery", "share", "over", { value, limit: least, lastedMinutes }, show),
    },
    offline: {
      title: "Device offline",
      raised: (facts, show) => `Not heard of for ${limit(facts, show)}, last on ${show.moment(facts.lastHeard)}`,
      over: (facts, show) => `Heard of again ${afterAll(facts, show)}`,
    },
    rpmOver: {
      title: "Engine speed over its limit",
      raised: (facts, show) => past("Engine speed", "rpm", "over", facts, show),
      over: (facts, show) => back("Engine speed", "rpm", "under", facts, show),
    },
    speedLess: {
      title: "Speed under its limit",
      raised: (facts, show) => past("Speed", "speed", "under", facts, show),
      over: (facts, show) => back("Speed", "speed", "over", facts, show),
    },
    notMoving: {
      title: "Not moving",
      raised: (facts, show) => `Not moving for ${limit(facts, show)}`,
      over: (facts, show) => `Moving again ${afterAll(facts, show)}`,
    },
    speedOver: {
      title: "Speed over its limit",
      raised: (facts, show) => past("Speed", "speed", "over", facts, show),
      over: (facts, show) => back("Speed", "speed", "under", facts, show),
    },
    vibration: {
      title: "Vibration",
      raised: () => "Vibration",
      over: (facts, show) => `Vibration over ${after(facts, show)}`,
    },
    gpsOff: {
      title: "GPS off",
      raised: (facts, show) => (facts.antenna ? "GPS antenna cut" : `No GPS position for ${limit(facts, show)}`),
      over: (facts, show) => `GPS position again ${afterAll(facts, show)}`,
    },
    powerDisconnected: {
      title: "Disconnected from power",
      raised: ({ voltage }, show) =>
        voltage === undefined
          ? "Tracker disconnected from power"
          : `Tracker disconnected from power, last ${show.measure("voltage", voltage)}`,
      over: (facts, show) => `Tracker connected to power again ${after(facts, show)}`,
    },
    gpsNoSignal: {
      title: "No GPS signal",
      raised: (facts, show) => `No GPS signal for ${limit(facts, show)}`,
      over: (facts, show) => `GPS signal again ${afterAll(facts, show)}`,
    },
    inputOn: {
      title: "Input on",
      raised: ({ input }) => `Input ${input} on`,
      over: (facts, show) => `Input ${facts.input} no longer on ${after(facts, show)}`,
    },
    inputOff: {
      title: "Input off",
      raised: ({ input }) => `Input ${input} off`,
      over: (facts, show) => `Input ${facts.input} no longer off ${after(facts, show)}`,
    },
    inputActiveFor: {
      title: "Input active for long",
      raised: (facts, show) => `Input ${facts.input} active for ${limit(facts, show)}`,
      over: (facts, show) => `Input ${facts.input} no longer active ${afterAll(facts, show)}`,
    },
    inputAccumulated: {
      title: "Input active in total",
      raised: (facts, show) => `Input ${facts.input} active for ${limit(facts, show)} in total`,
      over: (facts, show) => `Input ${facts.input} back under its total ${after(facts, show)}`,
    },
    temperatureGreater: {
      title: "Temperature over its limit",
      raised: (facts, show) => past(temperature(facts.probe), "temperature", "over", facts, show),
      over: (facts, show) => back(temperature(facts.probe), "temperature", "under", facts, show),
    },
    temperatureLess: {
      title: "Temperature under its limit",
      raised: (facts, show) => past(temperature(facts.probe), "temperature", "under", facts, show),
      over: (facts, show) => back(temperature(facts.probe), "temperature", "over", facts, show),
    },
    allowedZone: {
      title: "Left the allowed zone",
      raised: ({ zone }) => `Left the allowed zone ${zone}`,
      over: (facts, show) => `Back in the allowed zone ${facts.zone} ${after(facts, show)}`,
    },
    forbiddenZone: {
      title: "Entered a forbidden zone",
      raised: ({ zone }) => `Entered the forbidden zone ${zone}`,
      over: (facts, show) => `Left the forbidden zone ${facts.zone} ${after(facts, show)}`,
    },
    controlZone: {
      title: "Control zone",
      raised: ({ event, zone }) => (event === "left" ? `Left the zone ${zone}` : `Entered the zone ${zone}`),
      over: ({ event, zone, lastedMinutes }, show) =>
        `${event === "left" ? "Entered the zone" : "Left the zone"} ${zone} again ${after({ lastedMinutes }, show)}`,
    },
    controlPoint: {
      title: "Control point",
      raised: ({ event, zone, minutes }, show) =>
        event === "left" ? `Left ${zone} after ${show.duration(minutes)}` : `Arrived at ${zone}`,
      over: ({ event, zone, lastedMinutes }, show) =>
        `${event === "left" ? "Arrived at" : "Left"} ${zone} again ${after({ lastedMinutes }, show)}`,
    },
    route: {
      title: "Strayed from the route",
      raised: ({ zone }) => `Strayed from the route ${zone}`,
      over: (facts, show) => `Back on the route ${facts.zone} ${after(facts, show)}`,
    },
  },
  ended: (raised, { condition, operator, wanted = "" }, lastedMinutes, show) => {
    const told = `${raised}: over ${after({ lastedMinutes }, show)}, because`;
    if (operator === "inside") return `${told} it is no longer in the zone ${condition}`;
    if (operator === "outside") return `${told} it is no longer outside the zone ${condition}`;
    const way = operator === "greater" ? "over " : operator === "less" ? "under " : "";
    return `${told} ${condition} is no longer ${way}${show.value(wanted)}`;
  },
  notice: {
    critical: "Critical",
    over: "Over",
    late: "This was reported late, after newer positions.",
    device: "Device",
    alert: "Alert",
    when: "When",
    where: "Where",
    unknownPlace: "unknown",
    speed: "Speed",
    mileage: "Mileage",
    showOnMap: "Show on the map",
    why: (rule) => `You get this because the alert rule ${rule} names you.`,
  },
  withdrawn: (text) => `withdrawn, as late records show otherwise: ${text}`,
  leftOut: (alerts, notices) => `too many at a time: ${alerts} more alerts and ${notices} notices are left out`,
};
