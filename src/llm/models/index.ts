/** Known facts of models: context window, price, and units of cost. */
export {
  contextWindowOf,
  defaultContextTokens,
  fromUnits,
  roundCost,
  toUnits,
  assertPriced,
  isCosted,
  isPriced,
} from './model-facts.js';
