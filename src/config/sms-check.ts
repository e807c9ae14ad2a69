import type { Static } from "typebox";
import type { Problem } from "./problem.ts";
import type { sms } from "./sms.ts";

type Sms = Static<typeof sms>;
type Finding = Omit<Problem, "from">;

/** Placeholders of the templates; the sender fills in these and no others. */
const placeholders = ["to", "digits", "text", "hex", "base64", "secret"];

/**
 * What is wrong with the settings of the chosen gateway beyond each one by itself: something needed is empty, or a
 * template can't work. Settings of the other gateway are not looked at. No finding shows a template: it may hold a key.
 */
export function smsProblems(settings: Sms): readonly Finding[] {
  if (settings.kind === "smpp") return smppProblems(settings.smpp);
  return settings.kind === "http" ? httpProblems(settings.http) : [];
}

function smppProblems({ host, systemId }: Sms["smpp"]): Finding[] {
  const needed = "it must be set where sms.kind is smpp";
  const found: Finding[] = [];
  if (host === "") found.push({ key: "sms.smpp.host", wrong: "it is empty", right: needed });
  if (systemId === "") found.push({ key: "sms.smpp.systemId", wrong: "it is empty", right: needed });
  return found;
}

function httpProblems(http: Sms["http"]): Finding[] {
  const found: Finding[] = [];
  const { url, body, binaryUrl, binaryBody, idPath, idPattern } = http;
  if (url === "")
    found.push({ key: "sms.http.url", wrong: "it is empty", right: "it must be set where sms.kind is http" });
  else found.push(...urlProblems("sms.http.url", url));
  if (binaryUrl !== "") found.push(...urlProblems("sms.http.binaryUrl", binaryUrl));
  found.push(...bodyProblems("sms.http.body", http, body), ...bodyProblems("sms.http.binaryBody", http, binaryBody));
  if (!/\{(text|hex|base64)\}/.test(url + body))
    found.push({ key: "sms.http.body", wrong: "the text has no place", right: "it or sms.http.url must have {text}" });
  if ((binaryUrl || binaryBody) && !/\{(hex|base64)\}/.test(binaryUrl + binaryBody)) {
    const right = "it or sms.http.binaryUrl must have {hex} or {base64}";
    found.push({ key: "sms.http.binaryBody", wrong: "the bytes have no place", right });
  }
  found.push(...headerProblems(http.headers));
  if (idPath !== "" && idPattern !== "")
    found.push({ key: "sms.http.idPattern", wrong: "sms.http.idPath is set too", right: "set only one of the two" });
  if (!isPattern(idPattern))
    found.push({ key: "sms.http.idPattern", wrong: "it can't be read", right: "it must be a regular expression" });
  return found;
}

function urlProblems(key: string, template: string): Finding[] {
  const right = "it must be like https://gateway.example/send?to={to}";
  const address = URL.parse(template);
  if (address === null || !["http:", "https:"].includes(address.protocol) || /\{|%7B/i.test(address.host))
    return [{ key, wrong: "it is no http or https address of one host", right }];
  // A text of dots would climb the path, however it is encoded.
  if (/\{text\}/.test(template.split("?")[0] ?? "") || address.hash !== "")
    return [{ key, wrong: "{text} in the path, or a fragment", right: "{text} may stand in the query only" }];
  return unknownPlaceholders(key, template);
}

function bodyProblems(key: string, { format, method }: Sms["http"], template: string): Finding[] {
  if (template === "") return [];
  if (method === "GET")
    return [{ key, wrong: "a GET request has no body", right: "leave it empty or set sms.http.method" }];
  if (format === "json" && !isJson(template))
    return [{ key, wrong: "it is not JSON", right: "it must be JSON with the placeholders inside of strings" }];
  return unknownPlaceholders(key, template);
}

function headerProblems(text: string): Finding[] {
  if (text === "") return [];
  const key = "sms.http.headers";
  const right = 'it must be a JSON object of strings like {"Authorization":"Bearer {secret}"}';
  const headers = isJson(text) ? JSON.parse(text) : undefined;
  if (typeof headers !== "object" || headers === null || Array.isArray(headers))
    return [{ key, wrong: "it is no JSON object", right }];
  const bad = Object.entries(headers).some(
    ([name, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || typeof value !== "string" || !/^[ -~]*$/.test(value),
  );
  if (bad) return [{ key, wrong: "a name or a value can't be a header's", right }];
  const other = /\{(to|digits|text|hex|base64)\}/.test(text);
  return other ? [{ key, wrong: "only {secret} may stand in a header", right }] : [];
}

function unknownPlaceholders(key: string, template: string): Finding[] {
  const names = [...template.matchAll(/\{([A-Za-z]\w*)\}/g)].map((match) => match[1] ?? "");
  return names
    .filter((name) => !placeholders.includes(name))
    .map((name) => ({
      key,
      wrong: `there is no placeholder {${name}}`,
      right: `there are {${placeholders.join("}, {")}}`,
    }));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source, "m");
    return true;
  } catch {
    return false;
  }
}
