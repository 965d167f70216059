import { Injectable } from '@nestjs/common';
import type { Tool } from '../../tool/index.js';
import type { Protocol } from '../protocols/protocol.js';
import type { Loop } from '../reasoning.types.js';
import { Processor } from './processor.js';

/**
 * Builds the system prompt: instructions, then the protocol's description of tools and format. To customize it, extend
 * this class and pass it as `promptBuilder`.
 */
@Injectable()
export class PromptBuilder {
  build(instructions: string, tools: readonly Tool[], protocol: Protocol): string {
    return [instructions, tools.length > 0 ? protocol.describeTools(tools) : '']
      .filter((part) => part !== '')
      .join('\n\n');
  }
}

/** Builds the system prompt, once per execution, and again after deferred tools were found. */
export class PrepareToolsProcessor extends Processor {
  readonly name = 'prepare-tools';

  constructor(private readonly prompts: PromptBuilder) {
    super();
  }

  async process(loop: Loop): Promise<void> {
    const { tools } = loop.request;
    if (loop.describedTools === tools) return;
    loop.describedTools = tools;
    loop.instructions = this.prompts.build(loop.request.instructions, tools, loop.protocol);
  }
}
