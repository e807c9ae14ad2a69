import type { UnitSystem } from "../../contract/export.ts";
import type { Location } from "../../contract/location.ts";

/** What a file is made of beside the locations. */
export interface ExportTerms {
  readonly device: { readonly id: string; readonly name: string };
  /** Epoch ms, both inclusive. */
  readonly from: number;
  readonly to: number;
  /** IANA name. */
  readonly timeZone: string;
  readonly units: UnitSystem;
  /** A silence that parts two tracks, ms. */
  readonly gapMs: number;
}

/** Why a file ends before its range does. */
export interface EarlyEnd {
  /** Where the next export begins, RFC 3339. */
  readonly from: string;
}

/** Writes the locations of a device into a file, from its begin to its end, once. */
export interface ExportWriter {
  begin(): string;
  locations(some: readonly Location[]): string;
  end(early: EarlyEnd | undefined): string;
}

/** What a file that ends early says. */
export function endsEarly({ from }: EarlyEnd): string {
  return `This export ends here, before its range does: the device's daily results limit is reached. Export again from ${from}.`;
}

/** What a file says of itself, in a sentence. */
export function aboutFile({ from, to, timeZone, units }: ExportTerms): string {
  const range = [from, to].map((time) => new Date(time).toISOString()).join(" to ");
  return `${range}; time zone ${timeZone}; units ${units}`;
}
