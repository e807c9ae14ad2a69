import type { NumberReading } from "../../model/readings.ts";
import { type Draft, put } from "../../wire/report.ts";

/** Readings of the temperature of the sensors 1 to 4. */
export const temperatures: readonly NumberReading[] = ["temperature", "temperature2", "temperature3", "temperature4"];
/** Readings of their relative humidity. */
export const humidities: readonly NumberReading[] = ["humidity", "humidity2", "humidity3", "humidity4"];

/** What a wireless sensor says of itself. */
interface SensorData {
  readonly numbers: ReadonlyMap<number, number>;
  /** Its hardware address. */
  readonly id: Uint8Array | undefined;
}

/** Numbers of the fields in the data of a sensor. */
const field = { number: 1, id: 3, temperature: 4, humidity: 5, voltage: 9 } as const;

const numberType = 0;
const bytesType = 2;
const longestId = 16;

/** Numbers and bytes of Protocol Buffers, under the numbers of their fields; undefined where the bytes are none. */
function fieldsOf(bytes: Uint8Array): SensorData | undefined {
  const numbers = new Map<number, number>();
  let id: Uint8Array | undefined;
  let at = 0;
  const varint = (): number | undefined => {
    let value = 0;
    for (let scale = 1; scale < 2 ** 35; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return undefined;
  };
  while (at < bytes.length) {
    const key = varint();
    const value = varint();
    if (key === undefined || value === undefined) return undefined;
    const [name, type] = [Math.floor(key / 8), key % 8];
    if (type === numberType) numbers.set(name, value);
    else if (type !== bytesType || at + value > bytes.length) return undefined;
    else {
      if (name === field.id && value <= longestId) id = bytes.slice(at, at + value);
      at += value;
    }
  }
  return { numbers, id };
}

/** 0, -1, 1, -2 ... are written as 0, 1, 2, 3 ... */
function signed(value: number | undefined): number | undefined {
  if (value === undefined) return undefined;
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function bytesOfBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    return undefined;
  }
}

/**
 * The data of a sensor (tags TD1 to TD4): Protocol Buffers in Base64, with its number, address, temperature and
 * relative humidity in tenths, and battery in mV. Other fields of the report may have said the same before. Data that
 * can't be read is kept as it is.
 */
export function putSensor(report: Draft, text: string, tag: string): void {
  const bytes = bytesOfBase64(text);
  const data = bytes && fieldsOf(bytes);
  const number = data?.numbers.get(field.number) ?? Number.NaN;
  const [temperature, humidity] = [temperatures[number - 1], humidities[number - 1]];
  if (data === undefined || temperature === undefined || humidity === undefined) {
    report.attributes[tag] = text;
    return;
  }
  const { readings, attributes } = report;
  const degrees = tenth(signed(data.numbers.get(field.temperature)));
  const percent = tenth(data.numbers.get(field.humidity));
  if (readings[temperature] !== degrees) put(report, temperature, degrees, `TD${number}Temperature`);
  if (readings[humidity] !== percent) put(report, humidity, percent, `TD${number}Humidity`);
  const millivolts = data.numbers.get(field.voltage);
  if (millivolts !== undefined) attributes[`TD${number}Voltage`] = millivolts / 1000;
  if (data.id !== undefined) attributes[`TI${number}`] ??= data.id.toHex().toUpperCase();
}

function tenth(value: number | undefined): number | undefined {
  return value === undefined ? undefined : value / 10;
}
