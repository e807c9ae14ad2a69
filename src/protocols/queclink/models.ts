import type { DecodeContext } from "../../wire/protocol.ts";
import type { Sentence } from "./sentence.ts";

/**
 * Models by the device type in the protocol version. Only those whose messages are laid out otherwise than a vehicle
 * tracker's, or that a row asks for.
 */
const models: ReadonlyMap<string, string> = new Map([
  ["02", "GL200"],
  ["04", "GV200"],
  ["11", "GL500"],
  ["1A", "GL300"],
  ["21", "GL200"],
  ["28", "GL300VC"],
  ["2C", "GL300W"],
  ["30", "GL300"],
  ["31", "GV65"],
  ["35", "GV200"],
  ["38", "GV65"],
  ["40", "GL500"],
  ["42", "GT501"],
  ["44", "GL530"],
  ["52", "GL50"],
  ["55", "GL50B"],
  ["6E", "GV310LAU"],
  ["74", "GV350CEU"],
  ["97", "GL30MEU"],
  ["BD", "CV200"],
  ["C2", "GV600M"],
  ["C3", "GL320M"],
  ["DC", "GV600MG"],
  ["DE", "GL500M"],
  ["F1", "GV350M"],
  ["F5", "GL300M"],
  ["802005", "GV355CEU"],
]);

/** The tracker's model: the tag `model` of its device, or what the version says. Empty: not known. */
export function modelOf({ device, fields }: Sentence, { options }: DecodeContext): string {
  if (options.model !== undefined) return options.model.toUpperCase();
  const known = models.get(device);
  if (known !== undefined) return known;
  return /^G[LT]\d/i.test(fields[3] ?? "") ? (fields[3] ?? "").toUpperCase() : "";
}

/** Whether a model is carried by a person or a thing: those have no ignition, no inputs, and a shorter tail. */
export function isHandheld(model: string): boolean {
  return model.startsWith("GL") || model.startsWith("GT");
}
