import { Injectable } from '@nestjs/common';
import { AgentService, toQuestion } from '../../../agent/index.js';
import { AppError } from '../../../errors/index.js';
import type { Principal } from '../../../kernel/index.js';
import type { Message } from '../../../llm/chat/index.js';
import { RunService } from '../../../run/index.js';
import { ResponseHistoryService } from './response-history.service.js';
import { ResponseService } from './response.service.js';

/** A message or a call as an item of a list. */
export interface ListedItem {
  readonly id: string;
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The items of a message: its text, and its calls. */
export function toItems(message: Message, id: string): readonly ListedItem[] {
  if (message.role === 'tool')
    return [{ id, type: 'function_call_output', call_id: message.toolCallId, output: message.content }];
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  const text = { id, type: 'message', role: message.role, status: 'completed', content: contentOf(message) };
  const called = calls.map(({ id: callId, name, arguments: args }, at) => ({
    id: `${id}_${at}`,
    type: 'function_call',
    call_id: callId,
    name,
    arguments: args,
    status: 'completed',
  }));
  return message.content === '' && calls.length > 0 ? called : [text, ...called];
}

function contentOf({ role, content }: Exclude<Message, { role: 'tool' }>): readonly object[] {
  if (role === 'assistant') return [{ type: 'output_text', text: content, annotations: [], logprobs: [] }];
  if (typeof content === 'string') return [{ type: 'input_text', text: content }];
  return content.map((part) =>
    part.type === 'text'
      ? { type: 'input_text', text: part.text }
      : { type: 'input_image', image_url: part.url, detail: 'auto' },
  );
}

/** A page of items in OpenAI's format. */
export function toList(data: readonly ListedItem[], hasMore = false): object {
  return { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore };
}

/** Cancels and deletes responses, and lists the items of their requests. */
@Injectable()
export class ResponseAdminService {
  constructor(
    private readonly history: ResponseHistoryService,
    private readonly responses: ResponseService,
    private readonly agents: AgentService,
    private readonly runs: RunService,
  ) {}

  /** @throws AppError `RUN_NOT_FOUND`; `REQUEST_REFUSED` while the run is open */
  async remove(principal: Principal, id: string): Promise<object> {
    const { run } = await this.history.find(principal, id);
    await this.history.remove(principal, run.id);
    return { id, object: 'response', deleted: true };
  }

  /** Resolves when the run has ended; a response that has ended stays as it is. */
  async cancel(principal: Principal, id: string): Promise<object> {
    const { run } = await this.history.find(principal, id);
    await this.runs.cancel(principal, run.id).catch((error: unknown) => {
      if (!(error instanceof AppError && error.code === 'RUN_NOT_CANCELLABLE')) throw error;
    });
    await this.agents.outcome(principal, run.id);
    return this.responses.get(principal, id);
  }

  async inputItems(principal: Principal, id: string): Promise<object> {
    const { input } = await this.history.find(principal, id);
    const { history = [], isContinued = false } = input.conversation ?? {};
    const messages = isContinued ? history : [...history, toQuestion(input)];
    return toList(messages.flatMap((message, at) => toItems(message, `in_${at}`)));
  }

  /** @throws AppError `NOT_SUPPORTED` */
  unsupported(route: string): never {
    throw new AppError('NOT_SUPPORTED', `${route} is not supported: agents have no such operation.`);
  }
}
