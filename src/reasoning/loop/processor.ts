import type { Loop } from '../reasoning.types.js';

/** One stage of the pipeline; stateless, so that one instance serves every run. */
export abstract class Processor {
  abstract readonly name: string;
  /** Reads and writes the loop's state. Effects that must not repeat go through `loop.run`. */
  abstract process(loop: Loop): Promise<void>;
}
