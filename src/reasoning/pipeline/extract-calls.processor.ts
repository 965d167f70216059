import type { Loop } from '../reasoning.types.js';
import { Processor } from './processor.js';

/** Puts the reply's message, with the calls found in it, into the turn. */
export class ExtractCallsProcessor extends Processor {
  readonly name = 'extract-calls';

  async process(loop: Loop): Promise<void> {
    loop.turn.push(loop.decoded!.message);
    loop.results = new Map();
  }
}
