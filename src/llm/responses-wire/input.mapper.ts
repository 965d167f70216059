import type {
  EasyInputMessage,
  ResponseFunctionCallOutputItem,
  ResponseFunctionToolCall,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import type {
  AssistantMessage,
  ContentPart,
  Message,
  SignedReasoning,
  ToolCall,
  ToolMessage,
} from '../chat/message.types.js';
import type { StateOwner } from '../openai-wire/message.mapper.js';

/** Separates the texts of several messages of one reply. */
export const SEPARATOR = '\n\n';

/** Types of the items whose state is returned. */
const ITEMS: ReadonlySet<unknown> = new Set(['reasoning', 'message', 'function_call']);

/** State of a message or call besides its content. */
interface Head {
  readonly id?: string;
  readonly phase?: NonNullable<EasyInputMessage['phase']>;
}

/**
 * Converts messages to the items of `input`. Results are items of their own, and may have images. Reasoning items of
 * the requested model are returned unchanged, at their original places.
 */
export function toInputItems(messages: readonly Message[], owner: StateOwner): ResponseInputItem[] {
  /** Ids so far: an item must not repeat, even if a history has a turn twice. */
  const returned = new Set<unknown>();
  return messages.flatMap((message): ResponseInputItem[] => {
    switch (message.role) {
      case 'system':
        return [{ type: 'message', role: 'system', content: message.content }];
      case 'user': {
        const { content } = message;
        return [
          { type: 'message', role: 'user', content: typeof content === 'string' ? content : content.map(toContent) },
        ];
      }
      case 'assistant':
        return toAssistantItems(message, owner, returned);
      case 'tool':
        return [{ type: 'function_call_output', call_id: message.toolCallId, output: toOutput(message) }];
    }
  });
}

function toContent(part: ContentPart): ResponseInputContent {
  return part.type === 'text' ? { type: 'input_text', text: part.text } : toImage(part.url);
}

function toImage(url: string) {
  return { type: 'input_image' as const, image_url: url, detail: 'auto' as const };
}

/** Audio has no form here; the content of a result refers to it. */
function toOutput({ content, images = [] }: ToolMessage): string | ResponseFunctionCallOutputItem[] {
  if (images.length === 0) return content;
  return [{ type: 'input_text', text: content }, ...images.map(({ url }) => toImage(url))];
}

/**
 * The items of a reply. Its own state restores their order, ids and phases; without it the text comes before the calls,
 * and no item has an id: the API requires the reasoning item of one that has.
 */
function toAssistantItems(message: AssistantMessage, owner: StateOwner, returned: Set<unknown>): ResponseInputItem[] {
  const { content, toolCalls = [] } = message;
  const items: ResponseInputItem[] = [];
  let [text, calls, head, ids] = [0, 0, {} as Head, [] as (string | undefined)[]];
  const flush = (nextText: number, nextCalls: number): void => {
    items.push(...toTexts(content.slice(text, nextText), text > 0, head));
    items.push(...toolCalls.slice(calls, nextCalls).map((call, at) => toCall(call, ids[calls + at])));
    [text, calls] = [Math.max(text, nextText), Math.max(calls, nextCalls)];
  };
  for (const { value, text: place, calls: before } of ownBlocks(message, owner, returned)) {
    flush(place, before);
    if (value['type'] === 'message') head = value;
    else if (value['type'] === 'function_call') ids[before] = (value as Head).id;
    else items.push(value as unknown as ResponseInputItem);
  }
  flush(content.length, toolCalls.length);
  return withoutTrailingReasoning(items);
}

/** The state of the model's own reply, unless an earlier message has returned it. */
function ownBlocks(
  { signedReasoning }: AssistantMessage,
  { provider, model }: StateOwner,
  returned: Set<unknown>,
): SignedReasoning['blocks'] {
  if (signedReasoning?.provider !== provider || signedReasoning.model !== model) return [];
  const blocks = signedReasoning.blocks.filter(({ value: { type } }) => ITEMS.has(type));
  const ids = blocks.map(({ value: { id } }) => id).filter((id) => id !== undefined);
  if (ids.some((id) => returned.has(id))) return [];
  for (const id of ids) returned.add(id);
  return blocks;
}

function toTexts(text: string, isFurther: boolean, { id, phase }: Head): ResponseInputItem[] {
  const own = isFurther && text.startsWith(SEPARATOR) ? text.slice(SEPARATOR.length) : text;
  if (own === '') return [];
  if (id === undefined) return [{ type: 'message', role: 'assistant', content: own, ...(phase && { phase }) }];
  const content = [{ type: 'output_text' as const, text: own, annotations: [] }];
  return [{ type: 'message', id, role: 'assistant', status: 'completed', content, ...(phase && { phase }) }];
}

function toCall({ id, name, arguments: args }: ToolCall, itemId: string | undefined): ResponseFunctionToolCall {
  return { type: 'function_call', ...(itemId !== undefined && { id: itemId }), call_id: id, name, arguments: args };
}

/** "Item … of type 'reasoning' was provided without its required following item": that of a truncated reply. */
function withoutTrailingReasoning(items: readonly ResponseInputItem[]): ResponseInputItem[] {
  return items.slice(0, items.findLastIndex(({ type }) => type !== 'reasoning') + 1);
}
