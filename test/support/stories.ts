import fc from "fast-check";

/** Readings that a story of a test sets, with values that every protocol that carries them can tell exactly. */
const readings = fc.record(
  {
    battery: fc.integer({ min: 7, max: 100 }),
    ignition: fc.boolean(),
    fuel: fc.integer({ min: 0, max: 100 }),
    temperature: fc
      .integer({ min: -400, max: 1100 })
      .filter((tenth) => tenth !== 850)
      .map((tenth) => tenth / 10),
    externalVoltage: fc.integer({ min: 0, max: 300 }).map((tenth) => tenth / 10),
    input1: fc.boolean(),
    input4: fc.boolean(),
    doorOpen: fc.boolean(),
    blocked: fc.boolean(),
    rpm: fc.integer({ min: 0, max: 8000 }),
  },
  { requiredKeys: [] },
);

const place = fc.record({
  latitude: fc.integer({ min: -500_000, max: 500_000 }).map((part) => part / 10_000),
  longitude: fc.integer({ min: -1_790_000, max: 1_790_000 }).map((part) => part / 10_000),
});

const alarm = fc.constantFrom("sos", "powerCut", "powerRestored", "overspeed", "tow", "vibration", "accident");

const act = fc.oneof(
  fc.record({ do: fc.constant("drive"), to: place, speed: fc.integer({ min: 5, max: 200 }) }),
  fc.record({
    do: fc.constant("drive"),
    along: fc.array(place, { minLength: 1, maxLength: 3 }),
    speed: fc.integer({ min: 5, max: 200 }),
  }),
  fc.constant({ do: "stay" }),
  fc.record({ do: fc.constant("set"), readings }),
  fc.record({ do: fc.constant("alarm"), alarm, readings }, { requiredKeys: ["do", "alarm"] }),
  fc.record({ do: fc.constant("silent"), keeps: fc.boolean() }, { requiredKeys: ["do"] }),
  fc.constant({ do: "online" }),
);

/** ms */
const longest = 1800;

const acts = fc
  .array(fc.tuple(fc.integer({ min: 0, max: longest }), act), { minLength: 1, maxLength: 8 })
  .map((all) => all.toSorted(([left], [right]) => left - right).map(([at, each]) => ({ at: `+${at}s`, ...each })));

function tracker(protocols: readonly string[]) {
  return fc.record(
    {
      name: fc.constant("Truck"),
      protocol: fc.constantFrom(...protocols),
      place,
      interval: fc.integer({ min: 5, max: 400 }),
      readings,
      acts,
    },
    { requiredKeys: ["name", "protocol", "place", "interval"] },
  );
}

/** Valid stories of up to three trackers of these protocols, as JSON. */
export function stories(protocols: readonly string[]) {
  return fc.record({
    title: fc.constant("A story"),
    end: fc.constant(`+${longest}s`),
    trackers: fc.array(tracker(protocols), { minLength: 1, maxLength: 3 }),
  });
}
