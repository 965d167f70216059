import { z } from 'zod';
import { messageOf } from '../errors/index.js';
import { readText } from '../kernel/index.js';

/** Prices per million tokens, in any unit that is the same for all models. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Price of input tokens from the provider's cache; by default as `input`. */
  readonly cachedInput?: number | undefined;
  /**
   * Price of input tokens that the provider writes to its cache; by default 1.25 times `input` for the providers that
   * charge for it, else as `input`.
   */
  readonly cacheWrite?: number | undefined;
}

const MOST = 1_000_000;
const amount = z.number().min(0).max(MOST);
export const price = z.strictObject({
  input: amount,
  output: amount,
  cachedInput: amount.optional(),
  cacheWrite: amount.optional(),
});
const PRICES = z.record(z.string().regex(/\S/), price);
const EXAMPLE = '{"openai:gpt-5-mini": {"input": 0.25, "output": 2, "cachedInput": 0.025}}';

/** The list prices of the model tables, in US dollars. */
export const LIST_PRICES = 'list';

/** `LLM_PRICES`: a JSON object of prices by model, the path of a file with it, or `list`. */
export function prices() {
  return z.string().transform((text, context): Readonly<Record<string, ModelPrice>> | typeof LIST_PRICES => {
    if (text === LIST_PRICES) return text;
    try {
      return toPrices(JSON.parse(text.startsWith('{') ? text : readText(text)));
    } catch (error) {
      const message = `cannot be used: ${messageOf(error)}; give JSON such as ${EXAMPLE}, the path of such a file, or ${LIST_PRICES}`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
  });
}

function toPrices(value: unknown): Readonly<Record<string, ModelPrice>> {
  const { data, error } = PRICES.safeParse(value);
  if (!error) return data;
  throw new Error(error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`).join(', '));
}
