import { fragmentText } from '../wire/reply.parser.js';
import { mergeCalls, type OpaqueCall, opaqueOfCall } from './message.mapper.js';
import type { WireToolCall } from './wire-reply.types.js';

interface OpenCall {
  readonly index: unknown;
  id: string;
  name: string;
  arguments: string;
  opaque?: OpaqueCall | undefined;
  readonly end: JsonEnd;
  /** Whether its name was repeated after its complete arguments: the next arguments are those of another call. */
  isFollowed: boolean;
}

interface Fragment {
  readonly index: unknown;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** Assembles the tool calls of a stream from their fragments. */
export class StreamCallBuilder {
  private readonly calls: OpenCall[] = [];
  /** Length of all arguments so far, in UTF-16 units. */
  length = 0;

  add(wire: WireToolCall): void {
    const fragment = toFragment(wire);
    const known = this.find(fragment);
    const call = known && !isOther(known, fragment) ? known : this.open(fragment, known);
    if (call.id === '') call.id = fragment.id;
    call.isFollowed ||= call.end.isReached && fragment.name !== '';
    // The first fragment has the whole name; some servers repeat it in each.
    if (call.name === '') call.name = fragment.name;
    call.arguments += fragment.text;
    call.end.read(fragment.text);
    call.opaque = mergeCalls(call.opaque, opaqueOfCall(wire));
    this.length += fragment.text.length;
  }

  /** The calls in the order of their indexes, else in that of their first fragments. */
  result(): readonly OpenCall[] {
    const isNumbered = this.calls.every(({ index }) => typeof index === 'number');
    return isNumbered ? this.calls.toSorted((a, b) => Number(a.index) - Number(b.index)) : this.calls;
  }

  /** The call of a fragment: by index and id, else by the index alone; without an index by id, else the last call. */
  private find(fragment: Fragment): OpenCall | undefined {
    const last = this.calls.at(-1);
    if (last?.index === fragment.index && (fragment.id === '' || fragment.id === last?.id)) return last;
    return this.search(fragment);
  }

  private search({ index, id, name }: Fragment): OpenCall | undefined {
    const isNumbered = typeof index === 'number';
    const numbered = isNumbered ? this.calls.filter((call) => call.index === index) : this.calls;
    const called = id === '' ? undefined : numbered.findLast((call) => call.id === id);
    return called ?? (isNumbered || id === '' || name === '' ? numbered.at(-1) : undefined);
  }

  private open({ index, name }: Fragment, before: OpenCall | undefined): OpenCall {
    const call = {
      index,
      id: '',
      name: name || (before?.name ?? ''),
      arguments: '',
      end: new JsonEnd(),
      isFollowed: false,
    };
    this.calls.push(call);
    return call;
  }
}

function toFragment({ index, id, function: called }: WireToolCall): Fragment {
  return {
    index,
    id: typeof id === 'string' ? id : '',
    name: typeof called?.name === 'string' ? called.name : '',
    text: fragmentText(called?.arguments),
  };
}

/**
 * Whether a fragment starts another call under the same index: some servers number every call 0, some give no id
 * either. Another name or id beside a name starts one, and so do arguments after a complete value.
 */
function isOther(call: OpenCall, { id, name, text }: Fragment): boolean {
  if (name !== '' && call.name !== '' && name !== call.name) return true;
  if (id !== '' && call.id !== '') return id !== call.id && name !== '';
  return call.end.isReached && text.trim() !== '' && (name !== '' || call.isFollowed);
}

/** Detects the end of a JSON object, list or string that arrives in pieces. */
class JsonEnd {
  isReached = false;
  private depth = 0;
  private isInString = false;
  private isEscaped = false;

  read(piece: string): void {
    for (const unit of piece) {
      if (this.isInString) this.readInString(unit);
      else if (unit === '"') this.isInString = true;
      else if (unit === '{' || unit === '[') this.depth++;
      else if (unit === '}' || unit === ']') this.close(1);
    }
  }

  private readInString(unit: string): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (unit === '\\') this.isEscaped = true;
    else if (unit === '"') {
      this.isInString = false;
      this.close(0);
    }
  }

  private close(levels: number): void {
    this.depth -= levels;
    if (this.depth <= 0) this.isReached = true;
  }
}
