import { mergeFacts } from '../../run/index.js';
import { modelText, type ToolResult } from '../../tool/index.js';
import type { ToolMessage } from '../../llm/index.js';
import type { Loop } from '../reasoning.types.js';
import { areArgumentsChanged, withEditNote } from './approved-call.mapper.js';
import { makeImageRoom } from './image-room.policy.js';
import { Processor } from './processor.js';

/** Appends the results to the turn, in the order of the calls. */
export class FormatResultsProcessor extends Processor {
  readonly name = 'format-results';

  async process(loop: Loop): Promise<void> {
    if (loop.waiting.size > 0) return;
    pairResults(loop, null);
    loop.facts = mergeFacts(loop.facts, loop.reading);
  }
}

/**
 * Pairs every call of the current reply with one result.
 * @param missing creates the result of a call that has none; `null` if every call has one
 */
export function pairResults(loop: Loop, missing: ((tool: string, index: number) => ToolResult) | null): void {
  const calls = loop.decoded?.calls ?? [];
  if (calls.length === 0) return;
  const results = calls.map((call, index) => loop.results.get(index) ?? missing!(call.name, index));
  const hears = loop.request.model.capabilities.audio === true;
  for (const [index, { id, name }] of calls.entries()) {
    loop.turn.push({
      ...toMessage(id, name, results[index]!, hears),
      content: contentOf(loop, index, results[index]!),
    });
  }
  makeImageRoom(loop.turn, loop.maxImageBytes);
}

/** @param hears whether the model takes audio; otherwise the text refers to it */
function toMessage(toolCallId: string, name: string, result: ToolResult, hears: boolean): Omit<ToolMessage, 'content'> {
  const { images, audio } = result.success ? result : {};
  return {
    role: 'tool',
    toolCallId,
    name,
    ...(images && { images: images.map((url) => ({ type: 'image' as const, url })) }),
    ...(audio && hears && { audio: audio.map((url) => ({ type: 'audio' as const, url })) }),
  };
}

/** The result text for the model, with a note when a person edited the call. */
function contentOf({ decoded, request }: Loop, index: number, result: ToolResult): string {
  const content = modelText(result);
  const written = decoded!.message.toolCalls![index]!.arguments;
  const executed = decoded!.calls[index]!.arguments;
  if (!areArgumentsChanged(written, executed)) return content;
  return withEditNote(content, executed, request.limits.maxResultBytes);
}
