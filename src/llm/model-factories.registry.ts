import type { ModelFactory } from './model-factory.js';

/** The providers that an application brings along. */
export class ModelFactories {
  constructor(readonly factories: readonly ModelFactory[]) {}
}
