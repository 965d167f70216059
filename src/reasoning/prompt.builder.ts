import { Injectable } from '@nestjs/common';
import type { Tool } from '../tool/index.js';
import type { Protocol } from './protocols/protocol.js';

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
