import Type, { type Static } from "typebox";
import { success } from "./envelope.ts";
import { GivenText, Instant, reference } from "./schema.ts";

const start = Instant({ description: "Start of the range, inclusive." });
const end = Instant({ description: "End of the range, inclusive; not before `from`." });

const limits = {
  stopSeconds: Type.Optional(
    Type.Integer({
      minimum: 10,
      maximum: 86_400,
      description: "A device that stands for so long has ended its trip. Absent: the setting `trips.stopSeconds`.",
    }),
  ),
  gapSeconds: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 604_800,
      description: "A device that is silent for so long has ended its trip. Absent: the setting `trips.gapSeconds`.",
    }),
  ),
  leastMetres: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100_000,
      description: "A shorter way is no trip. Absent: the setting `trips.leastMetres`.",
    }),
  ),
};

/** Body of POST devices/{id}/trips. */
export const TripsRequest = Type.Object(
  { from: start, to: end, ...limits },
  { examples: [{ from: "2026-11-21T00:00:00Z", to: "2026-11-21T23:59:59.999Z" }] },
);
export type TripsRequest = Static<typeof TripsRequest>;

/** Body of POST devices/{id}/days. */
export const DaysRequest = Type.Object(
  {
    from: start,
    to: end,
    ...limits,
    timeZone: Type.Optional(
      GivenText({
        maxLength: 64,
        description: "IANA name, whose midnights part the days. Absent: the user's.",
        documented: "timeZone",
      }),
    ),
  },
  { examples: [{ from: "2026-11-01T05:00:00Z", to: "2026-12-01T04:59:59.999Z", timeZone: "America/Bogota" }] },
);
export type DaysRequest = Static<typeof DaysRequest>;

const Place = Type.Object({
  dateTime: Instant(),
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  longitude: Type.Number({ minimum: -180, maximum: 180 }),
});

const idlingSeconds = Type.Optional(
  Type.Integer({
    minimum: 0,
    description: "Standing with the ignition on; absent where the device reports no ignition.",
  }),
);

const span = {
  start: Place,
  end: Place,
  durationSeconds: Type.Integer({ minimum: 0 }),
  idlingSeconds,
  openStart: Type.Boolean({ description: "It was under way when the range begins, and may have begun before." }),
  openEnd: Type.Boolean({ description: "It was under way when the range ends, and may go on." }),
};

const distance = Type.Number({
  minimum: 0,
  description: "km, of the mileage: positions that can't be true add nothing.",
});
const maxSpeed = Type.Optional(
  Type.Number({ description: "km/h, the highest that was reported while it moved; absent where none was." }),
);

const bogota = { latitude: 4.711, longitude: -74.0721 };
const tripExample = {
  start: { dateTime: "2026-11-21T10:00:00.000Z", ...bogota },
  end: { dateTime: "2026-11-21T10:30:00.000Z", latitude: 4.6097, longitude: -74.0817 },
  durationSeconds: 1800,
  idlingSeconds: 95,
  openStart: false,
  openEnd: false,
  distance: 14.2,
  averageSpeed: 28.4,
  maxSpeed: 61,
};

/** A trip, as the API gives it. */
export const Trip = Type.Object(
  {
    ...span,
    distance,
    averageSpeed: Type.Number({ description: "km/h: the distance over the duration." }),
    maxSpeed,
  },
  { $id: "Trip", description: "A way of a device from one stop to the next.", examples: [tripExample] },
);
export type Trip = Static<typeof Trip>;

/** A stop, as the API gives it. */
export const Stop = Type.Object(span, {
  $id: "Stop",
  description: "The time of a device between two trips.",
  examples: [
    {
      start: tripExample.end,
      end: { ...tripExample.end, dateTime: "2026-11-21T12:00:00.000Z" },
      durationSeconds: 5400,
      idlingSeconds: 0,
      openStart: false,
      openEnd: true,
    },
  ],
});
export type Stop = Static<typeof Stop>;

/** A day, as the API gives it. */
export const DaySummary = Type.Object(
  {
    date: Type.String({ pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", examples: ["2026-11-21"] }),
    firstDateTime: Instant({ description: "Of the day's first report." }),
    lastDateTime: Instant({ description: "Of the day's last report." }),
    distance,
    tripSeconds: Type.Integer({ minimum: 0, description: "Within trips." }),
    trips: Type.Integer({ minimum: 0, description: "Trips that began in the day." }),
    idlingSeconds,
    maxSpeed,
  },
  {
    $id: "DaySummary",
    description: "What a device did in a day.",
    examples: [
      {
        date: "2026-11-21",
        firstDateTime: "2026-11-21T05:00:10.000Z",
        lastDateTime: "2026-11-22T04:59:50.000Z",
        distance: 120.4,
        tripSeconds: 14_400,
        trips: 6,
        idlingSeconds: 900,
        maxSpeed: 92,
      },
    ],
  },
);
export type DaySummary = Static<typeof DaySummary>;

const next = Type.Optional(
  Instant({
    description:
      "Present where the range has more than one answer: the `from` of the request that leads on. What is answered before it is whole.",
  }),
);

/** Answer of POST devices/{id}/trips. */
export const TripsAnswer = success({
  trips: Type.Array(reference<Trip>("Trip"), { description: "By time." }),
  stops: Type.Array(reference<Stop>("Stop"), { description: "By time." }),
  nextFrom: next,
});

/** Answer of POST devices/{id}/days. */
export const DaysAnswer = success({
  days: Type.Array(reference<DaySummary>("DaySummary"), { description: "Days with a report, by time." }),
  nextFrom: next,
});
