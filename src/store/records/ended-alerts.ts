/**
 * What an `update alert` of either engine sets where what an alert tells has ended: it closes by itself. A critical one stays open until somebody has
 * acknowledged it. `time`, `found` and `gone` are expressions; the last says that it was never so, which closes it whatever it is.
 */
export function endedColumns(time: string, found: string, gone = "false"): string {
  const closes = `(critical = 0 or state = 1 or ${gone})`;
  return `ended_at = ${time}, state = case when ${closes} then 2 else state end, closed_at = case when ${closes} then ${found} end`;
}
