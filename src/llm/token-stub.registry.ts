import { Injectable } from '@nestjs/common';
import type { Message } from './message.types.js';
export interface TokenCounter {
  readonly isExact: boolean;
  count(text: string): number;
}
const COUNTER: TokenCounter = { isExact: false, count: (text) => Math.ceil(text.length / 3) };
@Injectable()
export class TokenCounterRegistry {
  async of(_model: string): Promise<TokenCounter> {
    return COUNTER;
  }
}
export function countMessages(counter: TokenCounter, messages: readonly Message[]): number {
  let sum = 0;
  for (const m of messages)
    sum += 4 + counter.count(typeof m.content === 'string' ? m.content : JSON.stringify(m.content));
  return sum;
}
