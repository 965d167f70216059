import { Injectable } from '@nestjs/common';
import type { Tool } from '../tool/index.js';
import type { Protocol } from './protocols/protocol.js';

/** Builds the system prompt: instructions, then what the protocol says about tools and format. Extend it and give it as `promptBuilder` to build another one. */
@Injectable()
export class PromptBuilder {
  build(instructions: string, tools: readonly Tool[], protocol: Protocol): string {
    return [instructions, tools.length > 0 ? protocol.describeTools(tools) : '']
      .filter((part) => part !== '')
      .join('\n\n');
  }
}
