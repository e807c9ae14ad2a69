import { CountriesAnswer, TimeZonesAnswer } from "../../contract/user.ts";
import { countryNames } from "../../domain/countries.ts";
import { timeZoneNames } from "../../domain/time-zones.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

/** GET /api/users/countries and /api/users/timeZones: what a user's fields of these names can hold. */
export function listingsRoutes(app: App, { clock }: Services): void {
  app.get(
    "/api/users/countries",
    call({
      operationId: "listCountries",
      tag: "Users",
      summary: "List the countries",
      permission: "see",
      input: {},
      ok: { 200: CountriesAnswer },
    }),
    (request) => answer(callerOf(request), { countries: countryNames() }),
  );

  app.get(
    "/api/users/timeZones",
    call({
      operationId: "listTimeZones",
      tag: "Users",
      summary: "List the time zones",
      permission: "see",
      input: {},
      ok: { 200: TimeZonesAnswer },
    }),
    (request) => answer(callerOf(request), { timeZones: timeZoneNames(clock.now()) }),
  );
}
