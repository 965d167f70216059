import { AppError } from '../../errors/index.js';
import { describeFormat, fitImages, imagesOf, isContextExceeded, withoutImages } from '../../llm/index.js';
import type { CallOptions, ChatModel, ChatRequest, ChatResult, Message } from '../../llm/chat/index.js';
import { toAccount } from '../../run/usage/index.js';
import type { Conversation } from '../protocols/protocol.js';
import type { Loop, ReplyListener } from '../reasoning.types.js';
import { compactedMessages } from './compaction.js';
import { Processor } from './processor.js';
import { commandTo, wantedCall } from './shown-text.builder.js';

const NOTE = 'An image that the model’s provider refused is not shown';
/** HTTP statuses with which providers reject the content of a request, such as an unreadable image. */
const CONTENT_REFUSALS: readonly unknown[] = [400, 413, 415, 422];

/**
 * Whether an image of the request may have caused this error. The messages of providers vary too much to match them.
 */
export function mayBeImageRefusal(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== 'MODEL_REFUSED' || isContextExceeded(error)) return false;
  const status = error.details?.['provider_status'];
  return status === undefined || CONTENT_REFUSALS.includes(status);
}

/**
 * The history and the turn of a request. Earlier images are those of the history and of tool results, not of the input.
 */
type RequestMessages = Pick<Loop, 'turn'> & { readonly history: readonly Message[] };

/** The messages of the next request; without images of the history if the provider has refused them in this run. */
function requestMessages(loop: Loop): RequestMessages {
  const { history, turn } = compactedMessages(loop);
  return { history: loop.areEarlierImagesRefused ? withoutImages(history, NOTE) : history, turn };
}

function countEarlierImages({ history, turn }: RequestMessages): number {
  return [...history, ...turn.slice(1)].reduce((sum, message) => sum + imagesOf(message).length, 0);
}

/** The messages with a note in place of each earlier image. */
function withoutEarlierImages({ history, turn }: RequestMessages): RequestMessages {
  return { history: withoutImages(history, NOTE), turn: [...turn.slice(0, 1), ...withoutImages(turn.slice(1), NOTE)] };
}

/** Removes the refused earlier images from the rest of the run and from its stored turn. */
export function dropEarlierImages(loop: Loop): void {
  loop.areEarlierImagesRefused = true;
  replaceFrom(loop.turn, 1);
}

/** Removes images that no model has accepted from the stored turn, so that later turns are not refused. */
export function dropUnacceptedImages({ turn, acceptedMessages }: Loop): void {
  replaceFrom(turn, acceptedMessages);
}

function replaceFrom(turn: Message[], start: number): void {
  turn.splice(start, turn.length, ...withoutImages(turn.slice(start), NOTE));
}

/** Builds the request; tee-stream sends it inside its step. */
export class AskModelProcessor extends Processor {
  readonly name = 'ask-model';

  async process(loop: Loop): Promise<void> {
    const { model, isStreaming, budgets } = loop.request;
    const ask = isStreaming ? streamReply : generateReply;
    const accountOf = (place: string) => toAccount(loop.run, loop.run.nameOf({ kind: 'model', place }), budgets);
    loop.requestOf = (place) => {
      const request = toRequest(loop, requestMessages(loop));
      const body = model.bodyOf(request, isStreaming, accountOf(place));
      return { model: `${model.provider}:${model.name}`, request, body };
    };
    loop.ask = async (listener, place, cache) => {
      const { signal, deadlineAt, principal } = loop.run;
      const { tenant } = principal;
      const account = accountOf(place);
      const { onRetry, onRequest } = listener;
      const options = { signal, deadlineAt, tenant, account, onRetry, onRequest, ...cache };
      try {
        return await askRepaired(requestMessages(loop), signal, (messages) =>
          ask(model, toRequest(loop, messages), options, listener),
        );
      } catch (error) {
        throw withAgent(error, loop.request.agent);
      }
    };
  }
}

/** Names the agent whose tools are too many: the model does not know it. */
function withAgent(error: unknown, agent: string | null): unknown {
  if (!(error instanceof AppError) || error.code !== 'MODEL_TOO_MANY_TOOLS' || agent === null) return error;
  const { code, message, details } = error;
  return new AppError(code, `The agent "${agent}" cannot run. ${message}`, { details: { ...details, agent } });
}

/** Repeats a request without earlier images if the provider rejected it with them. */
async function askRepaired(
  messages: RequestMessages,
  signal: AbortSignal,
  ask: (messages: RequestMessages) => Promise<ChatResult>,
): Promise<ChatResult> {
  try {
    return await ask(messages);
  } catch (refusal) {
    const images = countEarlierImages(messages);
    if (images === 0 || signal.aborted || !mayBeImageRefusal(refusal)) throw refusal;
    try {
      return { ...(await ask(withoutEarlierImages(messages))), refusedImages: images };
    } catch (error) {
      // Rejected without images too, so they were not the cause.
      throw mayBeImageRefusal(error) ? refusal : error;
    }
  }
}

/** The request, with the parameters that no user set: defaults, and the stop sequences of a protocol. */
function toRequest(loop: Loop, messages: RequestMessages): ChatRequest {
  const { parameters, optionalParameters = [] } = loop.request;
  const request = loop.protocol.encode(toConversation(loop, messages));
  const hasOwnStops = request.parameters?.stop !== undefined && parameters?.stop === undefined;
  const optional = [...optionalParameters, ...(hasOwnStops ? (['stop'] as const) : [])];
  return optional.length === 0 ? request : { ...request, optionalParameters: optional };
}

/** Adds instructions for required calls and formats that the request cannot enforce. */
function toConversation(loop: Loop, { history, turn }: RequestMessages): Conversation {
  const { model, tools, parameters } = loop.request;
  const choice = wantedCall(loop);
  const canForce = loop.protocol.canForceCalls && model.capabilities.forcedToolChoice !== false;
  const { formatText, ...format } = formatFor(loop);
  const command = choice && !canForce ? commandTo(choice) : '';
  return {
    instructions: [loop.instructions, formatText, command].filter((text) => text !== '').join('\n\n'),
    messages: fitImages([...history, ...turn, ...loop.corrections], model.capabilities),
    tools,
    parameters,
    mayAddStops: !model.capabilities.parameterLimits?.uncertain?.includes('stop'),
    ...(choice && canForce && { toolChoice: choice }),
    ...format,
  };
}

/** The format of the answer: a parameter of the request if supported, else an instruction. */
function formatFor({
  protocol,
  request,
}: Loop): Pick<Conversation, 'responseFormat'> & { readonly formatText: string } {
  const { responseFormat, model } = request;
  if (responseFormat === undefined) return { formatText: '' };
  const isTaken = protocol.takesFormats && model.capabilities.jsonMode;
  return isTaken ? { formatText: '', responseFormat } : { formatText: describeFormat(responseFormat) };
}

function generateReply(model: ChatModel, request: ChatRequest, options: CallOptions): Promise<ChatResult> {
  return model.generate(request, options);
}

async function streamReply(
  model: ChatModel,
  request: ChatRequest,
  options: CallOptions,
  { onText, onRestart }: ReplyListener,
): Promise<ChatResult> {
  for await (const part of model.stream(request, options)) {
    if (part.type === 'finish') return part.result;
    if (part.type === 'restart') onRestart();
    const held = part.type === 'text' ? onText(part.text) : null;
    if (held) await held;
  }
  throw new AppError('MODEL_BAD_REPLY', `The model "${model.name}" ended its stream without an end; try again.`, {
    isRetryable: true,
  });
}
