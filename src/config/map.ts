import Type from "typebox";
import { isOriginList } from "./addresses.ts";
import { optionalText } from "./kinds.ts";

/** A map with streets for the console; without it the console shows the one that it brings. */
export const httpMap = {
  mapStyle: optionalText({
    env: "WAYBEAM_HTTP_MAP_STYLE",
    maxLength: 2048,
    pattern: "^(https?://[^\\s/]+(/[^\\s]*)?)?$",
    example: "an address like https://tiles.example.com/style.json",
    description:
      "Address of the style of the console's map, in the form of MapLibre. Browsers fetch it, and the console's policy lets them ask its host. Unset: the map that the service brings, which has no streets.",
  }),
  mapOrigins: Type.Refine(
    optionalText({
      env: "WAYBEAM_HTTP_MAP_ORIGINS",
      maxLength: 2048,
      example: "origins like https://tiles.example.com, with commas between",
      description: "Further hosts from which the style of `http.mapStyle` takes tiles, letters and signs.",
    }),
    (text) => text !== "*" && isOriginList(text),
  ),
};
