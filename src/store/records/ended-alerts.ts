/**
 * What an `update alert` of either engine sets at the end of an alert: the alert closes by itself. A critical one stays open until somebody has
 * acknowledged it. `time`, `found` and `gone` are expressions. If `gone` is true, the alert is withdrawn, and closes even if it is critical.
 */
export function endedColumns(time: string, found: string, gone = "false"): string {
  const closes = `(critical = 0 or state = 1 or ${gone})`;
  return `ended_at = ${time}, state = case when ${closes} then 2 else state end, closed_at = case when ${closes} then ${found} end`;
}
