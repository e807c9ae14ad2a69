import { cellsText } from "../../wire/radio.ts";
import type { MutableAttributes } from "./elements.ts";

/**
 * The serving cell, which a record tells in several elements: AVL 205 "GSM Cell ID" (of 3G and 4G 636 "UMTS/LTE Cell
 * ID", which is longer), 206 "GSM Area Code" and 241 "Active GSM Operator", the country's and the network's code in one
 * number. Where none but the operator is there, it stays as it is.
 */
export function withCell(attributes: MutableAttributes): MutableAttributes {
  if (attributes.gsmCellId === undefined && attributes.umtsCellId === undefined && attributes.gsmAreaCode === undefined)
    return attributes;
  const { gsmCellId, umtsCellId, gsmAreaCode, ...others } = attributes;
  const cellId = numberOf(umtsCellId) || numberOf(gsmCellId);
  const lac = numberOf(gsmAreaCode);
  // Without a network the tracker says zero.
  if (!lac && !cellId) return others;
  const [operator, mcc, mnc] = /^([2-7]\d\d)(\d{2,3})$/.exec(String(others.activeGsmOperator)) ?? [];
  if (operator !== undefined) delete others.activeGsmOperator;
  const network = operator === undefined ? {} : { mcc: Number(mcc), mnc: Number(mnc) };
  const cells = cellsText([{ ...network, lac, cellId }]);
  return cells === undefined ? others : { ...others, cells };
}

function numberOf(value: string | number | boolean | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
