/** Characters that XML 1.0 has not, and such as it discourages. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const noXml = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/g;

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** A text as it stands between two tags or in an attribute; characters that XML has not are U+FFFD. */
export function xmlText(text: string): string {
  const allowed = text.toWellFormed().replace(noXml, "\ufffd");
  return allowed.replace(/[&<>"'\t\n\r]/g, (sign) => escapes[sign] ?? sign);
}

/** `<name>text</name>` */
export function element(name: string, text: string): string {
  return `<${name}>${xmlText(text)}</${name}>`;
}
