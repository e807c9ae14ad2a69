/**
 * What a raw value of a fuel sensor means: which value it is, and litres at some of its values, linear between them.
 */
export interface FuelTable {
  /** Name of a reading or of an attribute of the location. */
  readonly reading: string;
  /** Raw value and litres, by rising raw value. */
  readonly points: readonly (readonly [raw: number, litres: number])[];
  /** Litres of the full tank: the most that a point has. */
  readonly full: number;
}

/** The tables of a device's tanks; undefined: that tank has none. */
export type FuelTables = readonly [FuelTable | undefined, FuelTable | undefined];

/** Tags of a device that hold the table of tank 1 and 2. */
export const fuelTableTags = ["fuelTable", "fuelTable2"] as const;

const mostPoints = 64;

/**
 * A table of a text such as `analog1 0.2:0 1.5:40 4.8:120`: what is read, then pairs of raw value and litres. A text:
 * what is wrong with it.
 */
export function parseFuelTable(text: string): FuelTable | string {
  const [reading = "", ...pairs] = text.trim().split(/\s+/);
  if (reading === "" || reading.includes(":")) return "must begin with the name of a reading or attribute";
  const points = pairs.map((pair) => pair.split(":").map(asNumber));
  const known = points.flatMap(([raw, litres, ...more]) =>
    raw === undefined || litres === undefined || more.length > 0 ? [] : [[raw, litres] as const],
  );
  if (known.length < points.length || known.length < 2 || known.length > mostPoints)
    return `must go on with 2 to ${mostPoints} pairs of raw value and litres, such as 0.2:0 4.8:120`;
  known.sort(([one], [other]) => one - other);
  if (known.some(([raw], at) => raw === known[at - 1]?.[0])) return "must not have the same raw value twice";
  const litres = known.map(([, each]) => each);
  const full = Math.max(...litres);
  if (full <= 0 || Math.min(...litres) < 0) return "must have litres from 0 up, and more than 0 somewhere";
  const [rises, falls] = [1, -1].map((way) =>
    litres.every((each, at) => at === 0 || way * (each - (litres[at - 1] ?? each)) >= 0),
  );
  if (!rises && !falls) return "must rise or fall from each point to the next";
  return { reading, points: known, full };
}

function asNumber(text: string): number | undefined {
  return /^-?\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

/** The tables that a device's tags hold; undefined: none. One that is wrong is not used. */
export function fuelTablesOf(tags: Readonly<Record<string, string>>): FuelTables | undefined {
  const [first, second] = fuelTableTags.map((name) => {
    const text = tags[name];
    const table = text === undefined ? undefined : parseFuelTable(text);
    return typeof table === "string" ? undefined : table;
  });
  return first === undefined && second === undefined ? undefined : [first, second];
}

/** Litres at a raw value; beyond the table what its end says. */
export function litresAt({ points }: FuelTable, raw: number): number {
  let [before] = points;
  for (const point of points) {
    if (before === undefined || raw <= point[0]) {
      if (before === undefined || before === point || raw <= before[0])
        return point === before ? point[1] : (before?.[1] ?? 0);
      return before[1] + ((point[1] - before[1]) * (raw - before[0])) / (point[0] - before[0]);
    }
    before = point;
  }
  return before?.[1] ?? 0;
}
