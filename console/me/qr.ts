import qrcode from "qrcode-generator";

/** A text as a QR code: what is dark, as the path of an SVG whose side has `size` modules. */
export function qrCode(text: string): { readonly path: string; readonly size: number } {
  // Version 0: the smallest that holds the text. M mends 15 % of damage: enough for a screen.
  const code = qrcode(0, "M");
  code.addData(text);
  code.make();
  const size = code.getModuleCount();
  let path = "";
  for (let row = 0; row < size; row += 1)
    for (let column = 0; column < size; column += 1) if (code.isDark(row, column)) path += `M${column} ${row}h1v1h-1z`;
  return { path, size };
}
