import type { ModelPrice } from '../../config/index.js';
import type { Usage } from '../chat.types.js';

/** Number of tokens that a price is for. */
const PER_TOKENS = 1_000_000;
const BILLION = 1_000_000_000;

/** Cost of a call in the unit of the price, rounded to a billionth. */
export function costOf(
  { promptTokens, completionTokens, cachedTokens = 0 }: Usage,
  { input, output, cachedInput = input }: ModelPrice,
): number {
  const price = (promptTokens - cachedTokens) * input + cachedTokens * cachedInput + completionTokens * output;
  return roundCost(price / PER_TOKENS);
}

/** Rounds to a billionth, since sums of floating-point decimals are inexact. */
export function roundCost(cost: number): number;
export function roundCost(cost: number | undefined): number | undefined;
export function roundCost(cost: number | undefined): number | undefined {
  return cost === undefined ? undefined : Math.round(cost * BILLION) / BILLION;
}

/** Converts a cost to an integer, in billionths, which databases add exactly. */
export function toUnits(cost: number): number {
  return Math.round(cost * BILLION);
}

/** Converts billionths to a cost. */
export function fromUnits(units: number): number {
  return units / BILLION;
}
