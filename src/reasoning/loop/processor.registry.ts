import type { PlacedProcessor } from './pipeline.js';

/** Custom processors of the application. */
export class ProcessorRegistry {
  constructor(readonly placed: readonly PlacedProcessor[] = []) {}
}
