import { emailPattern, longestEmail } from "../contract/forms.ts";

const form = new RegExp(emailPattern);

/** Whether a text is an e-mail address. */
export function isEmail(text: string): boolean {
  return text.length <= longestEmail && form.test(text);
}
