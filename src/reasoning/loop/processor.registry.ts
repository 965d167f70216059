import type { PlacedProcessor } from './pipeline.factory.js';

/** Custom processors of the application. */
export class ProcessorRegistry {
  constructor(readonly placed: readonly PlacedProcessor[] = []) {}
}
