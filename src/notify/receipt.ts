import type { Pdu } from "smpp";
import type { SmsReceipt } from "../ports/sms.ts";

/**
 * Final states (SMPP 3.4, 5.2.28) and their words in a receipt's text (appendix B). Others, such as ENROUTE, only tell
 * of the way.
 */
const finalStates = new Map([
  [2, "DELIVRD"],
  [3, "EXPIRED"],
  [4, "DELETED"],
  [5, "UNDELIV"],
  [7, "UNKNOWN"],
  [8, "REJECTD"],
]);
const finalWords = new Set(finalStates.values());

/** Bits of esm_class that say what a message is (SMPP 3.4, 5.2.12), and their value for a delivery receipt. */
const messageType = 0x3c;
const deliveryReceipt = 0x04;

/**
 * Reads a delivery receipt from a deliver_sm or data_sm. The fields receipted_message_id and message_state win over the
 * text, whose form is the gateway's own. Undefined: it is no receipt, not a final one, or names no message.
 */
export function readReceipt(pdu: Pdu): SmsReceipt | undefined {
  if (((pdu.esm_class ?? 0) & messageType) !== deliveryReceipt) return undefined;
  const text = textOf(pdu.short_message) || textOf(pdu.message_payload);
  const id = pdu.receipted_message_id || /(?:^|\s)id:\s*(\S+)/i.exec(text)?.[1];
  const word = /(?:^|\s)stat:\s*([A-Za-z]+)/i.exec(text)?.[1]?.toUpperCase();
  const state = pdu.message_state === undefined ? word : finalStates.get(pdu.message_state);
  if (!id || state === undefined || !finalWords.has(state)) return undefined;
  return { id, delivered: state === "DELIVRD", state };
}

function textOf(value: unknown): string {
  return Buffer.isBuffer(value) ? value.toString("latin1") : "";
}
