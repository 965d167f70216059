import { argumentsText, type WireCallParts } from '../wire/tool-call.mapper.js';
import type { WireToolCall } from './wire-reply.types.js';

interface OpenCall {
  readonly index: unknown;
  id: string;
  name: string;
  arguments: string;
}

/** Assembles the tool calls of a stream from their fragments. */
export class StreamCallBuilder {
  private readonly calls: OpenCall[] = [];
  /** Length of all arguments so far, in UTF-16 units. */
  length = 0;

  add(fragment: WireToolCall): void {
    const id = typeof fragment.id === 'string' ? fragment.id : '';
    const name = typeof fragment.function?.name === 'string' ? fragment.function.name : '';
    const call = this.find(fragment.index, id, name) ?? this.open(fragment.index);
    if (call.id === '') call.id = id;
    // The first fragment has the whole name; some servers repeat it in each.
    if (call.name === '') call.name = name;
    const text = argumentsText(fragment.function?.arguments);
    call.arguments += text;
    this.length += text.length;
  }

  result(): readonly WireCallParts[] {
    return this.calls;
  }

  /**
   * Finds the call of a fragment by index, else by id, else the last call. A name beside another id starts a new call
   * even under a known index: some servers number every call 0.
   */
  private find(index: unknown, id: string, name: string): OpenCall | undefined {
    const call = this.named(index, id);
    if (!call || name === '') return call;
    const isOther = id === '' ? call.name !== '' && typeof index !== 'number' : call.id !== '' && call.id !== id;
    return isOther ? undefined : call;
  }

  private named(index: unknown, id: string): OpenCall | undefined {
    if (typeof index === 'number') return this.calls.findLast((call) => call.index === index);
    if (id !== '') return this.calls.find((call) => call.id === id);
    return this.calls.at(-1);
  }

  private open(index: unknown): OpenCall {
    const call: OpenCall = { index, id: '', name: '', arguments: '' };
    this.calls.push(call);
    return call;
  }
}
