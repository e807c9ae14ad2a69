import { wordsOf } from "./alert-text.ts";
import { oneLine } from "./html.ts";
import { degrees } from "./map-link.ts";
import { type Told, templateValues, toldMap, toldText } from "./notice.ts";
import { shortened } from "./shorten.ts";
import { type Reader, showFor } from "./show.ts";
import { fillBody } from "./template.ts";

/** Characters of a text that chats take: Slack 3,000 in a block, Telegram 4,096 in a message. */
const longestText = 2800;

/** What a message in a chat consists of. */
interface Parts {
  readonly title: string;
  readonly text: string;
  readonly rows: readonly (readonly [label: string, value: string])[];
  readonly map: string | undefined;
  readonly mapLabel: string;
}

function partsOf(told: Told, reader: Reader): Parts {
  const { alert, device } = told;
  const words = wordsOf(reader.language).notice;
  const show = showFor(reader);
  const marks = [...(alert.critical ? [words.critical] : []), ...(alert.phase === "over" ? [words.over] : [])];
  const { latitude, longitude, speed } = alert;
  return {
    title: shortened([...marks, oneLine(device.name)].join(" · "), 200),
    text: shortened(toldText(told, reader).trim(), longestText),
    rows: [
      [words.alert, shortened(oneLine(alert.name), 200)],
      [words.when, show.moment(alert.time)],
      ...(latitude === null || longitude === null
        ? []
        : [[words.where, `${degrees(latitude)}, ${degrees(longitude)}`] as const]),
      ...(speed === null ? [] : [[words.speed, show.measure("speed", speed)] as const]),
    ],
    map: toldMap(told),
    mapLabel: words.showOnMap,
  };
}

/** Words a notice as the text of a Telegram message, plain: nothing of it is taken for marks. */
export function telegramOf(told: Told, reader: Reader): string {
  const { title, text, rows, map } = partsOf(told, reader);
  const lines = rows.map(([label, value]) => `${label}: ${value}`);
  return [title, text, lines.join("\n"), ...(map === undefined ? [] : [map])].join("\n\n");
}

/** Words a notice as the body of a call of Slack's incoming webhooks. */
export function slackOf(told: Told, reader: Reader): string {
  const { title: given, text, rows, map, mapLabel } = partsOf(told, reader);
  const title = shortened(forSlack(given), 250);
  const fields = rows.map(([label, value]) => ({ type: "mrkdwn", text: `*${forSlack(label)}*\n${forSlack(value)}` }));
  const link =
    map === undefined ? [] : [{ type: "section", text: { type: "mrkdwn", text: `<${map}|${forSlack(mapLabel)}>` } }];
  return JSON.stringify({
    // What notifications show.
    text: `${title}: ${forSlack(text)}`,
    blocks: [
      { type: "section", text: { type: "mrkdwn", text: `*${title}*\n${shortened(forSlack(text), 2700)}` } },
      { type: "section", fields },
      ...link,
    ],
  });
}

/** As Slack's documentation wants: these three characters begin its own marks. */
function forSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Words a notice as the body of a call of a webhook of Microsoft Teams: an adaptive card. */
export function teamsOf(told: Told, reader: Reader): string {
  const { title, text, rows, map, mapLabel } = partsOf(told, reader);
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      { type: "TextBlock", text: forTeams(title), weight: "Bolder", wrap: true },
      { type: "TextBlock", text: forTeams(text), wrap: true },
      { type: "FactSet", facts: rows.map(([name, value]) => ({ title: name, value: forTeams(value) })) },
    ],
    ...(map !== undefined && { actions: [{ type: "Action.OpenUrl", title: mapLabel, url: map }] }),
  };
  const attachment = { contentType: "application/vnd.microsoft.card.adaptive", content };
  return JSON.stringify({ type: "message", attachments: [attachment] });
}

/** Cards take Markdown: its marks are characters here. */
function forTeams(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>]/g, String.raw`\$&`);
}

/** Words a notice as the body that a rule's template makes of it; undefined: it is too long. */
export function bodyOf(template: string, told: Told, reader: Reader): string | undefined {
  const { alert } = told;
  return fillBody(template, {
    ...templateValues(told, reader),
    Text: toldText(told, reader),
    AlertId: alert.id,
    Phase: alert.phase,
    Critical: String(alert.critical),
    Time: new Date(alert.time).toISOString(),
  });
}
