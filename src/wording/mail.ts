import { wordsOf } from "./alert-text.ts";
import { escapeHtml, oneLine, visible } from "./html.ts";
import { degrees } from "./map-link.ts";
import { type Told, toldMap, toldText } from "./notice.ts";
import { shortened } from "./shorten.ts";
import { type Reader, showFor } from "./show.ts";
import type { NoticeWords } from "./words.ts";

/** A notice as an e-mail. */
export interface MailWords {
  /** One line. */
  readonly subject: string;
  readonly text: string;
  /** A whole page, without scripts, tables or anything that is loaded. */
  readonly html: string;
}

/** Longer subjects are cut off by mail programs, and on phones much shorter ones. */
const longestSubject = 150;

/** A line of the notice: what it is, and what it says. */
type Row = readonly [label: string, value: string];

/** Words a notice as an e-mail, for its reader. */
export function mailOf(told: Told, reader: Reader): MailWords {
  const { alert, device } = told;
  const words = wordsOf(reader.language).notice;
  const text = visible(toldText(told, reader)).trim();
  const marks = [...(alert.critical ? [words.critical] : []), ...(alert.phase === "over" ? [words.over] : [])];
  const rows = rowsOf(told, reader, words);
  const map = toldMap(told);
  const remarks = [...(alert.late ? [words.late] : []), words.why(oneLine(alert.name))];
  const title = [...marks, oneLine(device.name)].join(" · ");
  return {
    subject: shortened(oneLine(`${marks.map((mark) => `[${mark}] `).join("")}${device.name}: ${text}`), longestSubject),
    text: [
      title,
      text,
      rows.map(([label, value]) => `${label}: ${value}`).join("\n"),
      ...(map === undefined ? [] : [`${words.showOnMap}: ${map}`]),
      ...remarks,
      "",
    ].join("\n\n"),
    html: page(reader.language, title, [
      `<p style="margin:0 0 4px;font-size:14px;color:${alert.critical ? "#b3261e" : "#5f6368"}">${escapeHtml(title)}</p>`,
      `<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3;white-space:pre-line">${escapeHtml(text)}</h1>`,
      `<dl style="margin:0 0 16px">${rows.map(rowHtml).join("")}</dl>`,
      ...(map === undefined ? [] : [linkHtml(map, words.showOnMap)]),
      ...remarks.map((remark) => `<p style="margin:16px 0 0;font-size:12px;color:#5f6368">${escapeHtml(remark)}</p>`),
    ]),
  };
}

function rowsOf({ alert, device, mileage }: Told, reader: Reader, words: NoticeWords): readonly Row[] {
  const show = showFor(reader);
  const { latitude, longitude, speed } = alert;
  const place =
    latitude === null || longitude === null ? words.unknownPlace : `${degrees(latitude)}, ${degrees(longitude)}`;
  return [
    [words.device, oneLine(`${device.name} (${device.id})`)],
    [words.alert, oneLine(alert.name)],
    [words.when, show.moment(alert.time)],
    [words.where, place],
    ...(speed === null ? [] : [[words.speed, show.measure("speed", speed)] as const]),
    ...(mileage === undefined ? [] : [[words.mileage, show.measure("distance", mileage)] as const]),
  ];
}

function rowHtml([label, value]: Row): string {
  return (
    `<dt style="margin:8px 0 0;font-size:12px;color:#5f6368">${escapeHtml(label)}</dt>` +
    `<dd style="margin:0;overflow-wrap:anywhere">${escapeHtml(value)}</dd>`
  );
}

/** The address comes from the configuration, which takes only http and https. */
function linkHtml(address: string, label: string): string {
  return (
    `<p style="margin:0"><a href="${escapeHtml(address)}" style="display:inline-block;padding:10px 16px;border-radius:6px;` +
    `background:#1a5fb4;color:#ffffff;text-decoration:none">${escapeHtml(label)}</a></p>`
  );
}

/** A whole page around its content, which is HTML already. */
export function page(language: string, title: string, content: readonly string[]): string {
  return [
    "<!DOCTYPE html>",
    `<html lang="${language}">`,
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title></head>`,
    '<body style="margin:0;padding:16px;background:#f1f3f4;font-family:system-ui,sans-serif;font-size:16px;line-height:1.4;color:#202124">',
    '<main style="max-width:560px;margin:0 auto;padding:20px;border-radius:8px;background:#ffffff">',
    ...content,
    "</main></body></html>",
    "",
  ].join("\n");
}
