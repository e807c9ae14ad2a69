import Type, { type TSchemaOptions } from "typebox";

/** What every setting says of itself, beside its type and bounds. */
export interface About extends TSchemaOptions {
  /** The environment variable that sets it. */
  readonly env: `WAYBEAM_${string}`;
  /** What it means, and for a limit its reason. */
  readonly description: string;
  /** Unit of a number. */
  readonly unit?: string;
  /** It opens something: never printed, neither in `waybeam config` nor where it is wrong. */
  readonly secret?: true;
}

/** Bounds of a port's number. */
export const port = { minimum: 0, maximum: 65_535, unit: "port" };

/** A setting that is a whole number. */
export function integer<D extends number>(fallback: D, about: About & { minimum: number; maximum: number }) {
  return Type.Integer({ ...about, default: fallback });
}

/** A setting that is text; never empty unless `minLength` is 0. */
export function text(
  fallback: string,
  about: About & { minLength?: number; maxLength?: number; pattern?: string; example?: string },
) {
  return Type.String({ minLength: 1, maxLength: 1024, ...about, default: fallback });
}

/** A setting that may be left empty. */
export function optionalText(about: About & { maxLength?: number; pattern?: string; example?: string }) {
  return text("", { minLength: 0, ...about });
}

/** A setting that is off unless it is turned on. */
export function toggle(about: About) {
  return Type.Union([Type.Literal("off"), Type.Literal("on")], { ...about, default: "off" });
}
