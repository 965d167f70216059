import { checked } from './env-value.schema.js';

/** Upper limits of a budget; an absent field is unlimited. */
export interface BudgetLimit {
  readonly tokens?: number;
  /** In the unit of the prices. */
  readonly cost?: number;
}

const PART = /^(tokens|cost)=(\d{1,15}|\d{0,6}\.\d{1,9})$/;
const MOST_COST = 1_000_000;

/** `BUDGET_…`: `tokens=100000`, `cost=0.5`, or both, comma-separated. */
export function budget() {
  return checked(parseLimit, `tokens=<integer>, cost=<up to ${MOST_COST}>, or both, comma-separated`);
}

function parseLimit(text: string): BudgetLimit | undefined {
  const limit: { tokens?: number; cost?: number } = {};
  const isRead = text.split(',').every((part) => {
    const [, unit, value] = PART.exec(part.trim()) ?? [];
    const name = unit === 'tokens' || unit === 'cost' ? unit : undefined;
    const number = Number(value);
    const isWrong = name === 'cost' ? number > MOST_COST : !Number.isInteger(number);
    if (!name || name in limit || isWrong) return false;
    limit[name] = number;
    return true;
  });
  return isRead ? limit : undefined;
}
