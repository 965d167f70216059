import type { ModelFactory } from './model-factory.js';

/** Custom providers of an application. */
export class ModelFactories {
  constructor(readonly factories: readonly ModelFactory[]) {}
}
