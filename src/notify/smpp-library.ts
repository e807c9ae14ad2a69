import smpp from "smpp";

/*
 * The library turns texts and dates of messages into other values, guesses alphabets while doing so, and throws on some
 * input. We write and read the bytes as they are, so its filters go. This is the one place that changes the library.
 */
for (const command of ["submit_sm", "deliver_sm", "data_sm"])
  for (const field of Object.values(smpp.commands[command]?.params ?? {})) delete field.filter;
for (const field of Object.values(smpp.tlvs)) delete field.filter;

/** The library, with fields of messages as they are on the wire. */
export default smpp;
