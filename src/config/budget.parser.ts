import { z } from 'zod';
import type { BudgetLimit } from './app-config.types.js';

const PART = /^(tokens|cost)=(\d{1,15}|\d{0,6}\.\d{1,9})$/;
const MOST_COST = 1_000_000;

/** `BUDGET_…`: `tokens=100000`, `cost=0.5`, or both, comma-separated. */
export function budget() {
  return z.string().transform((text, context): BudgetLimit => {
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
    if (isRead) return limit;
    const message = `is not allowed: give tokens=<integer>, cost=<up to ${MOST_COST}>, or both, comma-separated`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}
