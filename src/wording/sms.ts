import { fitsSms, plainLetters } from "./gsm.ts";
import { oneLine } from "./html.ts";
import { degrees } from "./map-link.ts";
import { type Told, toldMap, toldText } from "./notice.ts";
import { shortened, shortenedTo } from "./shorten.ts";
import { type Reader, showFor } from "./show.ts";

/** A name that is longer gives way to what happened. */
const longestName = 24;

/**
 * Words a notice as an SMS of so many parts at most. It begins with the device and what happened; when and where follow
 * as far as there is room. Accents that the 7-bit alphabet does not have are given up where this saves a part or keeps
 * something that would be left out.
 */
export function smsOf(told: Told, reader: Reader, parts = 1): string {
  const name = oneLine(told.device.name);
  const text = oneLine(toldText(told, reader));
  const when = showFor(reader).moment(told.alert.time);
  const map = toldMap(told);
  const { latitude, longitude } = told.alert;
  const brief = shortened(name, longestName);
  const fits = (candidate: string) => fitsSms(candidate, parts);
  const candidates = [
    ...(map === undefined ? [] : [`${name}: ${text}\n${when}\n${map}`]),
    ...(latitude === null || longitude === null
      ? []
      : [`${name}: ${text}\n${when}\n${degrees(latitude)},${degrees(longitude)}`]),
    `${name}: ${text}\n${when}`,
    `${name}: ${text}`,
    `${brief}: ${text}`,
  ];
  for (const candidate of candidates) {
    if (fits(candidate)) return candidate;
    const plain = plainLetters(candidate);
    if (fits(plain)) return plain;
  }
  return shortenedTo(plainLetters(`${brief}: ${text}`), fits);
}
