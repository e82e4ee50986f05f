/** Lanes of sends begin with the account: `<topic>|<teamId>:…` as a row has it. */
export function teamOfLane(lane: string): string {
  const own = lane.slice(lane.indexOf('|') + 1);
  const end = own.indexOf(':');
  return end < 0 ? own : own.slice(0, end);
}
