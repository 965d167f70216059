import { AppError } from '../../common/index.js';
import { fitImages, type CallOptions, type ChatModel, type ChatRequest, type ChatResult } from '../../llm/index.js';
import type { Loop, ReplyListener } from '../reasoning.types.js';
import { wantedCall, withCommand } from './call-choice.policy.js';
import { Processor } from './processor.js';

/** Writes the request; the question itself is asked by who reads the answer, inside the step. */
export class AskModelProcessor extends Processor {
  readonly name = 'ask-model';

  async process(loop: Loop): Promise<void> {
    const { model, history, tools, parameters, isStreaming } = loop.request;
    const choice = wantedCall(loop);
    const canForce = loop.protocol.canForceCalls && model.capabilities.forcedToolChoice !== false;
    const ask = isStreaming ? streamReply : generateReply;
    loop.ask = (listener, place) => {
      const messages = fitImages([...history, ...loop.turn], model.capabilities);
      const request = loop.protocol.encode({
        instructions: choice && !canForce ? withCommand(loop.instructions, choice) : loop.instructions,
        messages,
        tools,
        parameters,
        ...(choice && canForce && { toolChoice: choice }),
      });
      const { signal, deadlineAt, principal, runId, sessionId } = loop.run;
      const { tenant } = principal;
      const account = { tenant, runId, sessionId, step: `model:${place}` };
      return ask(model, request, { signal, deadlineAt, tenant, account }, listener);
    };
  }
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
    if (part.type === 'text') onText(part.text);
    else if (part.type === 'restart') onRestart();
    else if (part.type === 'finish') return part.result;
  }
  throw new AppError('MODEL_BAD_REPLY', `The model "${model.name}" ended its stream without an end; try again.`, {
    isRetryable: true,
  });
}
