import type { Usage } from '../../llm/index.js';
import type { RunUsage } from '../../run/index.js';
import type { Loop } from '../reasoning.types.js';
import { Processor } from './processor.js';

/** Finds the calls in the reply and puts its message into the turn. */
export class ExtractCallsProcessor extends Processor {
  readonly name = 'extract-calls';

  async process(loop: Loop): Promise<void> {
    const reply = loop.reply!;
    const { request, iteration } = loop;
    loop.decoded ??= loop.protocol.decode(reply, { tools: request.tools, iteration });
    loop.turn.push(loop.decoded.message);
    loop.model = reply.model;
    if (reply.usage) loop.usage = add(loop.usage, reply.usage);
    loop.results = new Map();
  }
}

function add(sum: RunUsage, usage: Usage): RunUsage {
  return {
    prompt_tokens: sum.prompt_tokens + usage.promptTokens,
    completion_tokens: sum.completion_tokens + usage.completionTokens,
    total_tokens: sum.total_tokens + usage.totalTokens,
  };
}
