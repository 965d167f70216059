import { isDeepStrictEqual } from 'node:util';
import { imageBytes, MAX_IMAGES } from '../../kernel/media/index.js';
import type { ImagePart, Message, ToolCall, ToolMessage } from '../../llm/chat/index.js';
import type { RunContext } from '../../run/context/index.js';
import { mergeFacts } from '../../run/facts/index.js';
import type { ToolResult } from '../../tool/index.js';
import type { Tool } from '../../tool/method/index.js';
import { cutText, modelText } from '../../tool/result/index.js';
import type { Loop } from '../reasoning.types.js';
import { withScriptTool } from '../script/script-tool.factory.js';
import { factsOfDefinitions } from './data-facts.executor.js';
import { DeferredTools } from './deferred-tools.js';
import { Processor } from './processor.js';
import { requestId } from './waiting-request.factory.js';

/** JSON numbers with so many digits may be equal after parsing although they differ. */
const LONG_NUMBER = /\d{16}/;

/**
 * The call with the arguments of the person who approved it, if that person edited them; otherwise the call itself.
 * @param place the call's place in its run, `<iteration>:<call>`
 */
export function asApproved(run: RunContext, call: ToolCall, place: string): ToolCall {
  const decision = run.answer(requestId('approval', place));
  const edited = decision?.kind === 'approve' ? decision.arguments : undefined;
  return edited === undefined ? call : { ...call, arguments: edited };
}

/** Whether two texts of arguments have different values. Whitespace and the order of keys are ignored. */
export function areArgumentsChanged(original: string, edited: string): boolean {
  if (original === edited) return false;
  if (LONG_NUMBER.test(original) || LONG_NUMBER.test(edited)) return true;
  try {
    return !isDeepStrictEqual(JSON.parse(original), JSON.parse(edited));
  } catch {
    return true;
  }
}

/**
 * Prepends a note to the result of an edited call, since the model made the call with other arguments.
 * @param edited the arguments of the executed call, JSON on one line
 * @param maxBytes maximum size of the arguments in the note, in UTF-8 bytes
 */
export function withEditNote(content: string, edited: string, maxBytes: number): string {
  const shown = cutText(edited, maxBytes);
  return `[A person changed the arguments of this call to ${shown}. The following is the result of the changed call.]\n${content}`;
}

const NOTE = '[An image that was shown here made room for later ones]';

/**
 * Enforces the image limits of a request and of a stored turn: the latest tool images stay, earlier ones become notes.
 * Earlier audio is omitted.
 * Mutates the turn.
 * @param maxBytes maximum total size of images that are data
 */
export function makeImageRoom(turn: Message[], maxBytes: number): void {
  let [images, bytes] = [0, 0];
  for (let at = turn.length - 1; at >= 0; at--) {
    let message = turn[at]!;
    if (message.role !== 'tool') continue;
    if (message.audio) {
      const audioBytes = message.audio.reduce((sum, { url }) => sum + imageBytes(url), 0);
      if (bytes + audioBytes <= maxBytes) bytes += audioBytes;
      else turn[at] = message = withoutAudio(message);
    }
    if (!message.images) continue;
    turn[at] = withImagesWhere(message, message.images, ({ url }) => {
      const added = imageBytes(url);
      if (images === MAX_IMAGES || bytes + added > maxBytes) return false;
      images++;
      bytes += added;
      return true;
    });
  }
}

/** The text of the result refers to the audio. */
function withoutAudio({ audio: _audio, ...message }: ToolMessage): ToolMessage {
  return message;
}

function withImagesWhere(
  message: ToolMessage,
  images: readonly ImagePart[],
  isRetained: (image: ImagePart) => boolean,
): ToolMessage {
  const retained = images.filter(isRetained);
  if (retained.length === images.length) return message;
  const { images: _images, content, ...rest } = message;
  const notes = Array.from({ length: images.length - retained.length }, () => NOTE);
  return { ...rest, content: [content, ...notes].join('\n'), ...(retained.length > 0 && { images: retained }) };
}

/** Appends the results to the turn, in the order of the calls, and the found tools to those of the run. */
export class FormatResultsProcessor extends Processor {
  readonly name = 'format-results';

  async process(loop: Loop): Promise<void> {
    if (loop.waiting.size > 0) return;
    pairResults(loop, null);
    loop.facts = mergeFacts(loop.facts, loop.reading);
    if (loop.deferred) await addFoundTools(loop, loop.deferred);
  }
}

export function byName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}

/** Replaces the tools of a run that has too many by those of its first request. */
export async function deferTools(loop: Loop): Promise<void> {
  loop.deferred = await DeferredTools.of(loop.request, loop.run);
  if (loop.deferred) setTools(loop, loop.deferred.offered);
  else if (loop.request.isCodeMode) setTools(loop, loop.request.tools);
}

/** Replaces the tools that the model knows; with code mode, a script calls most of them. */
export function setTools(loop: Loop, given: readonly Tool[]): void {
  const { isCodeMode, toolChoice } = loop.request;
  const tools = isCodeMode ? withScriptTool(given, toolChoice) : given;
  loop.request = { ...loop.request, tools };
  loop.tools = byName(tools);
}

/** Appends the tools that the calls have found to those of the run. */
async function addFoundTools(loop: Loop, deferred: DeferredTools): Promise<void> {
  const { calls } = loop.decoded!;
  const found = calls.flatMap(({ name }, at) => (deferred.isFinder(name) ? deferred.take(loop.results.get(at)) : []));
  if (found.length === 0) return;
  setTools(loop, [...loop.request.tools, ...found]);
  loop.facts = mergeFacts(loop.facts, await factsOfDefinitions(loop.run, found));
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
