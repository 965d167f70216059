import type { PromptBuilder } from '../prompt.builder.js';
import type { Loop } from '../reasoning.types.js';
import { Processor } from './processor.js';

/** Builds the system prompt, once per execution. */
export class PrepareToolsProcessor extends Processor {
  readonly name = 'prepare-tools';

  constructor(private readonly prompts: PromptBuilder) {
    super();
  }

  async process(loop: Loop): Promise<void> {
    if (loop.iteration > 1) return;
    loop.instructions = this.prompts.build(loop.request.instructions, loop.request.tools, loop.protocol);
  }
}
