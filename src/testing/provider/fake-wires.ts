import { toMessage, toMessageEvents } from './anthropic-message.mapper.js';
import { toChunks, toCompletion } from './chat-completion.mapper.js';
import type { FakeMessage, FakeRequest } from './fake-provider.types.js';
import { toResponse, toResponseEvents } from './response-object.mapper.js';

/** The wire format of a fake provider. */
export interface FakeWire {
  toBody(reply: FakeMessage, request: FakeRequest): unknown;
  toEvents(reply: FakeMessage, request: FakeRequest): readonly unknown[];
  /** One chunk as sent: an event, or several; a text is sent unchanged. */
  frame(event: unknown): string;
}

export const OPENAI_WIRE: FakeWire = {
  toBody: toCompletion,
  toEvents: toChunks,
  frame: (event) => `data: ${toText(event)}\n\n`,
};

export const ANTHROPIC_WIRE: FakeWire = {
  toBody: toMessage,
  toEvents: toMessageEvents,
  frame: (event) => `event: ${(event as { type?: string }).type ?? 'ping'}\ndata: ${toText(event)}\n\n`,
};

export const RESPONSES_WIRE: FakeWire = {
  toBody: toResponse,
  toEvents: toResponseEvents,
  frame: (event) => [event].flat().map(toEventFrame).join(''),
};

function toEventFrame(event: unknown): string {
  const { type } = event as { readonly type?: string };
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${toText(event)}\n\n`;
}

function toText(event: unknown): string {
  return typeof event === 'string' ? event : JSON.stringify(event);
}
