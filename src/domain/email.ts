/** Longest address that mail can be sent to, and longest part before the @ (RFC 5321, 4.5.3.1). */
const longest = 254;
const longestLocal = 64;

/** Words of letters, digits and the signs of RFC 5322's atoms, with single dots between them; then a host name of at least two labels. */
const form =
  /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d](?:[a-z\d-]{0,61}[a-z\d])$/i;

/** Whether a text is an e-mail address (RFC 5322's dot-atom form at a host name of RFC 1123). Quoted names and addresses of hosts by number are not taken. */
export function isEmail(text: string): boolean {
  return text.length <= longest && text.indexOf("@") <= longestLocal && form.test(text);
}
