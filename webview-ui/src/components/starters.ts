/** What the shapes of a Smart pass begin with when they are chosen: something that makes sense, to be changed. */
export const STARTERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  preserve_recent: { count: 10 },
  preserve_percent: { percentage: 30 },
  custom: { filter: { contentTypes: ['toolResults'] } },
  conditional: { condition: { tokenThreshold: 50_000 } },
  truncate: { maxLines: 20 },
};
