import type { ModelPrice } from '../../config/index.js';
import type { Usage } from '../chat.types.js';

/** Prices are of so many tokens. */
const PER_TOKENS = 1_000_000;
const BILLION = 1_000_000_000;

/** What a call costs, in the unit of the price, to a billionth. */
export function costOf(
  { promptTokens, completionTokens, cachedTokens = 0 }: Usage,
  { input, output, cachedInput = input }: ModelPrice,
): number {
  const price = (promptTokens - cachedTokens) * input + cachedTokens * cachedInput + completionTokens * output;
  return roundCost(price / PER_TOKENS);
}

/** Sums of decimals are never quite what they should be; a billionth is. */
export function roundCost(cost: number): number;
export function roundCost(cost: number | undefined): number | undefined;
export function roundCost(cost: number | undefined): number | undefined {
  return cost === undefined ? undefined : Math.round(cost * BILLION) / BILLION;
}

/** A cost as an integer, which databases add exactly: billionths. */
export function toUnits(cost: number): number {
  return Math.round(cost * BILLION);
}

/** The other way round. */
export function fromUnits(units: number): number {
  return units / BILLION;
}
