import type { PlacedProcessor } from './pipeline.factory.js';

/** The processors that an application puts into the pipeline. */
export class ProcessorRegistry {
  constructor(readonly placed: readonly PlacedProcessor[] = []) {}
}
