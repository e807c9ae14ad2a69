import type { AlertFactsOf } from "../model/alert-facts.ts";
import { alarmasEs } from "./es-alarms.ts";
import type { Show } from "./show.ts";
import { type Quantity, quantityOf } from "./units.ts";
import { type Against, alarmText, type Ended, type Lasts, lasting, levelOf, type Words } from "./words.ts";

const after = ({ lastedMinutes }: Ended, show: Show) => `tras ${show.duration(lastedMinutes)}`;
/** Of what is told when it has gone on for a while: all of it. */
const afterAll = ({ minutes, lastedMinutes }: Ended & { readonly minutes: number }, show: Show) =>
  after({ lastedMinutes: minutes + lastedMinutes }, show);

const past = (name: string, quantity: Quantity, way: "encima" | "debajo", facts: Against, show: Show) => {
  const [value, limit] = show.against(quantity, facts.value, facts.limit);
  return `${name} ${value}, por ${way} del límite de ${limit}`;
};

const back = (name: string, quantity: Quantity, way: "encima" | "debajo", facts: Against & Ended, show: Show) => {
  const [value, limit] = show.against(quantity, facts.value, facts.limit);
  return `${name} ${value}, de nuevo por ${way} del límite de ${limit} ${after(facts, show)}`;
};

const limit = (facts: Lasts, show: Show) => lasting(facts, show, "límite");

const fuel = (tank: 1 | 2) => (tank === 1 ? "Combustible" : "Combustible del depósito 2");
const fuelChanged = (how: string, facts: AlertFactsOf["fuelDecrease"], show: Show) => {
  const { tank, points = 0, litres, to, minutes } = facts;
  const amount = litres === undefined ? `${show.number(points)} puntos` : show.measure("volume", litres);
  const level = show.measure(litres === undefined ? "share" : "volume", to);
  return `${fuel(tank)}: ${how} ${amount} hasta ${level} en ${show.duration(minutes)}`;
};
const temperature = (probe: 1 | 2) => (probe === 1 ? "Temperatura" : "Temperatura de la sonda 2");

/** Spanish. */
export const es: Words = {
  alerts: {
    attributeEqual: {
      title: "Atributo igual",
      raised: ({ attribute, value }, show) => `${attribute} es ${show.value(value)}`,
      over: (facts, show) => `${facts.attribute} ya no es ${show.value(facts.limit)} ${after(facts, show)}`,
    },
    attributeGreater: {
      title: "Atributo por encima del límite",
      raised: (facts, show) => past(facts.attribute, quantityOf(facts.attribute), "encima", facts, show),
      over: (facts, show) => back(facts.attribute, quantityOf(facts.attribute), "debajo", facts, show),
    },
    attributeLess: {
      title: "Atributo por debajo del límite",
      raised: (facts, show) => past(facts.attribute, quantityOf(facts.attribute), "debajo", facts, show),
      over: (facts, show) => back(facts.attribute, quantityOf(facts.attribute), "encima", facts, show),
    },
    fuelDecrease: {
      title: "Bajó el combustible",
      raised: (facts, show) => fuelChanged("bajó", facts, show),
      over: (facts, show) => `${fuel(facts.tank)}: ya no baja ${after(facts, show)}`,
    },
    fuelIncrease: {
      title: "Subió el combustible",
      raised: (facts, show) => fuelChanged("subió", facts, show),
      over: (facts, show) => `${fuel(facts.tank)}: ya no sube ${after(facts, show)}`,
    },
    fuelLess: {
      title: "Combustible bajo",
      raised: (facts, show) => past(fuel(facts.tank), levelOf(facts), "debajo", facts, show),
      over: (facts, show) => back(fuel(facts.tank), levelOf(facts), "encima", facts, show),
    },
    driverAuthenticationFailed: {
      title: "Conductor no autenticado",
      raised: ({ driver, seconds }, show) =>
        driver === undefined
          ? `Ningún conductor identificado en ${show.duration(seconds / 60)}`
          : `El conductor ${driver} no está autorizado`,
      over: (facts, show) =>
        `${facts.ended === "ignitionOff" ? "Encendido desactivado" : "Se identificó un conductor autorizado"} ${after(facts, show)}`,
    },
    vehicleBatteryLess: {
      title: "Batería del vehículo baja",
      raised: (facts, show) => past("Batería del vehículo", "voltage", "debajo", facts, show),
      over: (facts, show) => back("Batería del vehículo", "voltage", "encima", facts, show),
    },
    sos: {
      title: "SOS",
      raised: () => "SOS",
      over: (facts, show) => `SOS terminado ${after(facts, show)}`,
    },
    alarm: {
      title: "Alarma del rastreador",
      raised: (facts) => alarmText(alarmasEs, facts),
      over: (facts, show) => `${alarmText(alarmasEs, facts)}: terminada ${after(facts, show)}`,
    },
    expired: {
      title: "Vencimiento del dispositivo",
      raised: ({ expires, days }, show) =>
        days <= 0
          ? `El dispositivo venció el ${show.moment(expires)}`
          : `El dispositivo vence en ${show.number(days)} ${days === 1 ? "día" : "días"}, el ${show.moment(expires)}`,
      over: (facts, show) => `El dispositivo ya no vence pronto ${after(facts, show)}`,
    },
    idling: {
      title: "Al ralentí",
      raised: (facts, show) => `Al ralentí desde hace ${limit(facts, show)}`,
      over: (facts, show) => `Ya no está al ralentí ${afterAll(facts, show)}`,
    },
    trip: {
      title: "Viaje",
      raised: ({ event, minutes = 0 }, show) =>
        event === "ended" ? `Viaje terminado tras ${show.duration(minutes)}` : "Viaje iniciado",
      over: (facts, show) => `Viaje terminado ${after(facts, show)}`,
    },
    parkedFor: {
      title: "Estacionado mucho tiempo",
      raised: (facts, show) => `Estacionado desde hace ${limit(facts, show)}`,
      over: (facts, show) => `Ya no está estacionado ${afterAll(facts, show)}`,
    },
    drivingFor: {
      title: "Conducción sin descanso",
      raised: (facts, show) => `Conducción desde hace ${limit(facts, show)} sin descanso`,
      over: (facts, show) => `Descanso tomado ${afterAll(facts, show)}`,
    },
    mileage: {
      title: "Kilometraje alcanzado",
      raised: (facts, show) => {
        const [value, reached] = show.against("distance", facts.value, facts.limit);
        return `Kilometraje ${value}, ha alcanzado ${reached}`;
      },
      over: (facts, show) => back("Kilometraje", "distance", "debajo", facts, show),
    },
    lowBattery: {
      title: "Batería del rastreador baja",
      raised: (facts, show) =>
        facts.value === undefined
          ? "Batería del rastreador baja"
          : past("Batería del rastreador", "share", "debajo", { value: facts.value, limit: facts.limit }, show),
      over: ({ value, limit: least, lastedMinutes }, show) =>
        value === undefined
          ? `La batería del rastreador ya no está baja ${after({ lastedMinutes }, show)}`
          : back("Batería del rastreador", "share", "encima", { value, limit: least, lastedMinutes }, show),
    },
    offline: {
      title: "Dispositivo sin conexión",
      raised: (facts, show) =>
        `Sin noticias desde hace ${limit(facts, show)}, las últimas el ${show.moment(facts.lastHeard)}`,
      over: (facts, show) => `Con noticias de nuevo ${afterAll(facts, show)}`,
    },
    rpmOver: {
      title: "Régimen del motor por encima del límite",
      raised: (facts, show) => past("Régimen del motor", "rpm", "encima", facts, show),
      over: (facts, show) => back("Régimen del motor", "rpm", "debajo", facts, show),
    },
    speedLess: {
      title: "Velocidad por debajo del límite",
      raised: (facts, show) => past("Velocidad", "speed", "debajo", facts, show),
      over: (facts, show) => back("Velocidad", "speed", "encima", facts, show),
    },
    notMoving: {
      title: "Sin movimiento",
      raised: (facts, show) => `Sin movimiento desde hace ${limit(facts, show)}`,
      over: (facts, show) => `En movimiento de nuevo ${afterAll(facts, show)}`,
    },
    speedOver: {
      title: "Velocidad por encima del límite",
      raised: (facts, show) => past("Velocidad", "speed", "encima", facts, show),
      over: (facts, show) => back("Velocidad", "speed", "debajo", facts, show),
    },
    vibration: {
      title: "Vibración",
      raised: () => "Vibración",
      over: (facts, show) => `Vibración terminada ${after(facts, show)}`,
    },
    gpsOff: {
      title: "GPS apagado",
      raised: (facts, show) =>
        facts.antenna ? "Antena GPS cortada" : `Sin posición GPS desde hace ${limit(facts, show)}`,
      over: (facts, show) => `Con posición GPS de nuevo ${afterAll(facts, show)}`,
    },
    powerDisconnected: {
      title: "Desconectado de la alimentación",
      raised: ({ voltage }, show) =>
        voltage === undefined
          ? "Rastreador desconectado de la alimentación"
          : `Rastreador desconectado de la alimentación, última ${show.measure("voltage", voltage)}`,
      over: (facts, show) => `Rastreador conectado de nuevo a la alimentación ${after(facts, show)}`,
    },
    gpsNoSignal: {
      title: "Sin señal GPS",
      raised: (facts, show) => `Sin señal GPS desde hace ${limit(facts, show)}`,
      over: (facts, show) => `Con señal GPS de nuevo ${afterAll(facts, show)}`,
    },
    inputOn: {
      title: "Entrada activada",
      raised: ({ input }) => `Entrada ${input} activada`,
      over: (facts, show) => `Entrada ${facts.input} ya no activada ${after(facts, show)}`,
    },
    inputOff: {
      title: "Entrada desactivada",
      raised: ({ input }) => `Entrada ${input} desactivada`,
      over: (facts, show) => `Entrada ${facts.input} ya no desactivada ${after(facts, show)}`,
    },
    inputActiveFor: {
      title: "Entrada activa mucho tiempo",
      raised: (facts, show) => `Entrada ${facts.input} activa desde hace ${limit(facts, show)}`,
      over: (facts, show) => `Entrada ${facts.input} ya no activa ${afterAll(facts, show)}`,
    },
    inputAccumulated: {
      title: "Entrada activa en total",
      raised: (facts, show) => `Entrada ${facts.input} activa ${limit(facts, show)} en total`,
      over: (facts, show) => `Entrada ${facts.input} de nuevo por debajo de su total ${after(facts, show)}`,
    },
    temperatureGreater: {
      title: "Temperatura por encima del límite",
      raised: (facts, show) => past(temperature(facts.probe), "temperature", "encima", facts, show),
      over: (facts, show) => back(temperature(facts.probe), "temperature", "debajo", facts, show),
    },
    temperatureLess: {
      title: "Temperatura por debajo del límite",
      raised: (facts, show) => past(temperature(facts.probe), "temperature", "debajo", facts, show),
      over: (facts, show) => back(temperature(facts.probe), "temperature", "encima", facts, show),
    },
    allowedZone: {
      title: "Salió de la zona permitida",
      raised: ({ zone }) => `Salió de la zona permitida ${zone}`,
      over: (facts, show) => `De nuevo en la zona permitida ${facts.zone} ${after(facts, show)}`,
    },
    forbiddenZone: {
      title: "Entró en una zona prohibida",
      raised: ({ zone }) => `Entró en la zona prohibida ${zone}`,
      over: (facts, show) => `Salió de la zona prohibida ${facts.zone} ${after(facts, show)}`,
    },
    controlZone: {
      title: "Zona de control",
      raised: ({ event, zone }) => (event === "left" ? `Salió de la zona ${zone}` : `Entró en la zona ${zone}`),
      over: ({ event, zone, lastedMinutes }, show) =>
        `${event === "left" ? "Entró en la zona" : "Salió de la zona"} ${zone} de nuevo ${after({ lastedMinutes }, show)}`,
    },
    controlPoint: {
      title: "Punto de control",
      raised: ({ event, zone, minutes }, show) =>
        event === "left" ? `Salió de ${zone} tras ${show.duration(minutes)}` : `Llegó a ${zone}`,
      over: ({ event, zone, lastedMinutes }, show) =>
        `${event === "left" ? "Llegó a" : "Salió de"} ${zone} de nuevo ${after({ lastedMinutes }, show)}`,
    },
    route: {
      title: "Fuera de la ruta",
      raised: ({ zone }) => `Se desvió de la ruta ${zone}`,
      over: (facts, show) => `De nuevo en la ruta ${facts.zone} ${after(facts, show)}`,
    },
  },
  ended: (raised, { condition, operator, wanted = "" }, lastedMinutes, show) => {
    const told = `${raised}: terminada ${after({ lastedMinutes }, show)}, porque`;
    if (operator === "inside") return `${told} ya no está en la zona ${condition}`;
    if (operator === "outside") return `${told} ya no está fuera de la zona ${condition}`;
    const way = operator === "greater" ? "mayor que " : operator === "less" ? "menor que " : "";
    return `${told} ${condition} ya no es ${way}${show.value(wanted)}`;
  },
  notice: {
    critical: "Crítica",
    over: "Terminada",
    late: "Se informó tarde, después de posiciones más recientes.",
    device: "Dispositivo",
    alert: "Alerta",
    when: "Cuándo",
    where: "Dónde",
    unknownPlace: "se desconoce",
    speed: "Velocidad",
    mileage: "Kilometraje",
    showOnMap: "Ver en el mapa",
    why: (rule) => `Recibe este aviso porque la regla de alerta ${rule} le nombra.`,
  },
  withdrawn: (text) => `retirado, porque registros tardíos muestran otra cosa: ${text}`,
  leftOut: (alerts, notices) => `demasiadas a la vez: se omiten ${alerts} alertas y ${notices} avisos más`,
};
