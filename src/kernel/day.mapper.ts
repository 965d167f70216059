export const DAY_MS = 86_400_000;

let last = { number: Number.NaN, text: '' };

/** The day of a time, UTC: `2027-01-31`. @param at epoch ms */
export function dayOf(at: number): string {
  const number = Math.floor(at / DAY_MS);
  if (number !== last.number) last = { number, text: new Date(at).toISOString().slice(0, 10) };
  return last.text;
}
