import { MAX_CALLS } from '../protocol.js';
import { isFinish, parseAction, type ParsedAction } from './action.parser.js';
import { fencedPart, leavesFenceOpen, withoutFences } from './fence.parser.js';
import type { Label, LabelKind } from './label.parser.js';

export type WantedCall = Extract<ParsedAction, { kind: 'call' }>;

/** The parts of a reply besides its answer. */
export interface ReplySegments {
  readonly thoughts: readonly string[];
  readonly calls: readonly WantedCall[];
}

type SegmentKind = Exclude<LabelKind, 'answer'>;

const INLINE_ACTION = /(?:^|[\s.。!?！？,，;；])(?:action|行动|动作)[*_`]{0,2}[ \t]{0,2}[:：]/i;
const INLINE_ANSWER = /(?:final answer|最终答案)[*_`]{0,2}[ \t]{0,2}[:：]/i;
const JSON_START = /^\s{0,100}(?:```[\w-]{0,20})?\s{0,100}\{\s{0,100}["'“}\w]/;
/** An action with its input in the same line. */
const SELF_CONTAINED =
  /^[ \t`*]{0,8}[\w.-]{1,64}[`*]{0,2}(?:[ \t]{0,2}[([{]|[,，]?[ \t]{0,4}(?:action[ _]?input|行动输入|动作输入))/i;

/** Collects thoughts and pairs actions with their inputs. */
export class SegmentBuilder implements ReplySegments {
  readonly thoughts: string[] = [];
  readonly calls: WantedCall[] = [];
  /** Whether a fence is open at the start of the next segment. */
  isInFence = false;
  private kind: SegmentKind | null = null;
  private text = '';
  private action: string | null = null;
  private answer = '';
  private saidNothing = false;

  get hasCalls(): boolean {
    return this.calls.length > 0;
  }

  get hasTooMany(): boolean {
    return this.calls.length > MAX_CALLS;
  }

  /** Whether the label is valid at its position. */
  accepts({ kind, isStrong }: Label): boolean {
    if (kind !== 'input') return this.kind !== null || isStrong;
    if (this.kind === 'action') return true;
    return isStrong && (this.kind === 'input' || this.kind === 'thought');
  }

  /** @returns `answer` for the input of an action that ends the run */
  begin(kind: SegmentKind): 'segment' | 'answer' {
    const previous = this.kind;
    const text = this.takeText();
    if (kind === 'input') this.beginInput(previous, text);
    // If the action has a line of its own, actions in the thought are only text.
    else if (kind === 'action' && previous === 'thought') this.keepThought(text);
    else this.closeWith(previous, text);
    this.kind = kind;
    if (kind !== 'input' || this.action === null || !isFinish(this.action)) return 'segment';
    this.action = null;
    this.kind = null;
    return 'answer';
  }

  add(text: string): void {
    if (this.kind !== null) this.text += text;
  }

  close(): void {
    this.closeWith(this.kind, this.takeText());
    this.kind = null;
  }

  /** The answer of a reply without a call and without a labelled answer. */
  fallback(): string {
    if (this.answer !== '') return this.answer;
    const said = this.thoughts.join('\n');
    const inline = INLINE_ANSWER.exec(said);
    if (inline) return said.slice(inline.index + inline[0].length).replace(/^\*{1,2}/, '');
    return this.saidNothing ? said : '';
  }

  private takeText(): string {
    const { text, kind, isInFence } = this;
    this.text = '';
    this.isInFence = leavesFenceOpen(text, isInFence);
    // Strings in JSON may contain fences; the JSON parser finds the end.
    const isWhole = kind === 'thought' || (kind === 'input' && JSON_START.test(text));
    return isWhole ? text : fencedPart(text, isInFence);
  }

  private beginInput(previous: SegmentKind | null, text: string): void {
    if (previous === 'action') this.action = text;
    // A second input without an action is a second call of the same tool.
    else if (previous === 'input') this.finish(this.action, text);
    else if (previous === 'thought') {
      const inline = findInlineAction(text);
      this.keepThought(inline?.before ?? text);
      this.action = inline?.action ?? null;
    }
  }

  private closeWith(kind: SegmentKind | null, text: string): void {
    if (kind === 'action') this.finish(text, null);
    else if (kind === 'input') {
      this.finish(this.action, text);
      this.action = null;
    } else if (kind === 'thought') {
      const inline = findInlineAction(text);
      const isCall = inline !== null && SELF_CONTAINED.test(inline.action);
      this.keepThought(isCall ? inline.before : text);
      if (isCall) this.finish(inline.action, null);
    }
  }

  private keepThought(text: string): void {
    const thought = withoutFences(text);
    if (thought !== '') this.thoughts.push(thought);
  }

  private finish(action: string | null, input: string | null): void {
    if (action === null || this.hasTooMany) return;
    const parsed = parseAction(action, input);
    if (parsed.kind === 'call') this.calls.push(parsed);
    else {
      if (parsed.text !== '') this.answer = parsed.text;
      if (parsed.kind === 'none') this.saidNothing = true;
    }
  }
}

function findInlineAction(thought: string): { before: string; action: string } | null {
  const text = thought.trimEnd();
  const lineStart = text.lastIndexOf('\n') + 1;
  const match = INLINE_ACTION.exec(text.slice(lineStart));
  if (!match) return null;
  const at = lineStart + match.index;
  return { before: text.slice(0, at), action: text.slice(at + match[0].length) };
}
