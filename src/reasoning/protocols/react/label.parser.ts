/** Kind of text after a label of the format. */
export type LabelKind = 'thought' | 'action' | 'input' | 'observation' | 'answer';

export interface Label {
  readonly kind: LabelKind;
  /** Whether only the format uses this label; the others also occur in ordinary text (`Input:`, `答案：`). */
  readonly isStrong: boolean;
  /** A line without a colon: `### Action`, which may also be a heading of an ordinary text. */
  readonly isHeading?: true;
  /** Index of the value in the text. */
  readonly valueStart: number;
}

/** Maximum length of a label with its decoration, in UTF-16 units; a longer one is text. */
export const MAX_LABEL = 160;

/** Names of labels, in lower case, separated by bars; English first. */
const STRONG: Record<LabelKind, string> = {
  thought: 'thought',
  action: 'action|行动|动作|操作|行動|動作|aktion|acción|accion|アクション|ação|azione|действие|행동|액션',
  input:
    'action input|行动输入|动作输入|操作输入|行動輸入|動作輸入|aktionseingabe|aktion eingabe|entrée de l’action|' +
    "entrée de l'action|entrée action|entrada de la acción|entrada de acción|entrada acción|アクション入力|" +
    "アクションの入力|行動入力|行動の入力|entrada da ação|input dell’azione|input dell'azione|ввод действия|" +
    'входные данные действия|행동 입력|액션 입력',
  observation: 'observation',
  answer:
    'final answer|最终答案|最终回答|最終答案|endgültige antwort|finale antwort|réponse finale|respuesta final|' +
    '最終回答|最終的な答え|最終的な回答|resposta final|risposta finale|окончательный ответ|финальный ответ|최종 답변|최종 답',
};

const WEAK: Record<LabelKind, string> = {
  thought:
    'thoughts|思考|思考过程|想法|思路|gedanke|gedanken|überlegung|pensée|réflexion|pensamiento|考え|pensamento|pensiero|мысль|생각',
  action: '',
  input:
    'input|arguments|args|parameters|action arguments|输入|參數|参数|行动参数|输入参数|eingabe|entrée|entrada|入力|ввод|입력',
  observation:
    'observations|观察|观察结果|觀察|觀察結果|beobachtung|observación|観察|観測|観察結果|observação|osservazione|наблюдение|관찰',
  answer: 'answer|答案|回答|antwort|réponse|respuesta|答え|resposta|risposta|ответ|답변',
};

const PROMPTED = ['Thought', 'Action', 'Action Input', 'Observation', 'Final Answer'];
const ASKED_FOR = new Set(PROMPTED.map((name) => name.toLowerCase()));
const SPACING = /[ \t_-]+/g;
const LABELS = new Map<string, { kind: LabelKind; isStrong: boolean }>();
for (const [isStrong, table] of [[true, STRONG] as const, [false, WEAK] as const]) {
  for (const [kind, names] of Object.entries(table)) {
    for (const name of namesIn(names)) LABELS.set(toKey(name), { kind: kind as LabelKind, isStrong });
  }
}

/** The labels as the prompt requests them, which need no key. */
const USUAL = new Map(PROMPTED.map((name) => [name, LABELS.get(toKey(name))!]));

/** All prefixes of all labels, to reject other text early. */
const BEGINNINGS = new Set(
  [...LABELS.keys()].flatMap((key) => Array.from(key, (_, at) => key.slice(0, at)).concat(key)),
);

const STRONG_NAMES = toPattern(Object.values(STRONG));
const NAMES = toPattern([...Object.values(STRONG), ...Object.values(WEAK)]);
/** Markdown, quotes, brackets and numbers before a label. */
const BEFORE = '[ \\t>#*_`•\\-\\[【(（]{0,16}(?:\\d{1,3}[.)、．:][ \\t]{0,3}[*_`\\[【]{0,4})?';
/** `Action 1`, `Observation (name)`, `**Action**`, `【行动】`, up to the colon. */
const AFTER =
  '[ \\t]{0,2}(?:#?\\d{1,3})?[ \\t]{0,2}(?:\\([\\w.-]{0,64}\\))?[ \\t]{0,2}[\\])】）*_`"\']{0,4}[ \\t]{0,2}';

/** Pattern source of a label with its decoration; `toLabel` maps the match. */
export const LABELLED = `(${BEFORE})(${NAMES})(${AFTER})[:：]`;
/** Pattern source of a label as a heading, up to the line break; `toHeading` maps the name. */
export const HEADED = `#{1,6}[ \\t]{1,3}[*_]{0,3}(${STRONG_NAMES})[*_]{0,3}[ \\t]{0,3}(?=\\r?\\n)`;
const LABEL = new RegExp(`^${LABELLED}`, 'i');
const HEADING = new RegExp(`^${HEADED}`, 'i');
const HEADINGS = `#{1,6}[ \\t]{1,3}[*_]{0,3}(?:${STRONG_NAMES})[*_]{0,3}(?=[ \\t]{0,3}\\r?$)`;
const IN_TEXT = `(?:${BEFORE}(?:${NAMES})${AFTER}(?=[:：])|${HEADINGS})`;
const LABELS_IN_TEXT = new RegExp(`^${IN_TEXT}`, 'gim');
const LABELS_BEHIND_THOUGHTS = new RegExp(`(?<=</think(?:ing)?>)${IN_TEXT}`, 'gim');
const THOUGHT_END = /<\/think/i;
const BEFORE_ONLY = new RegExp(`^${BEFORE}`);
const NUMBER_START = /^[ \t>#*_`•\-[【(（]{0,16}\d{0,3}$/;
const AFTER_START = new RegExp(
  `^(?:${NAMES})[ \\t]{0,2}(?:#?\\d{0,3})[ \\t]{0,2}(?:\\([\\w.-]{0,64}\\)?)?[ \\t]{0,2}[\\])】）*_\`"']{0,4}[ \\t]{0,2}\\r?$`,
  'i',
);
const MARKS = /[*_`]{1,4}$/;

/** The label at the start of the line, if any. */
export function readLabel(line: string): Label | null {
  if (!mayBegin(line)) return null;
  const match = LABEL.exec(line);
  if (match) return toLabel(match);
  const heading = line.startsWith('#') ? HEADING.exec(line) : null;
  return heading && toHeading(heading[1]!, heading[0].length);
}

/** @param end end of the heading in the text */
export function toHeading(name: string, end: number): Label {
  return { ...LABELS.get(toKey(name))!, isHeading: true, valueStart: end };
}

export function toLabel(match: RegExpExecArray): Label {
  const [all, before, name, after] = match as unknown as [string, string, string, string];
  const { kind, isStrong } = USUAL.get(name) ?? LABELS.get(toKey(name))!;
  const end = match.index + all.length;
  return { kind, isStrong, valueStart: end + closingMarks(match.input, end, before, after) };
}

/** Whether a line with this start may still turn out to start with a label. */
export function mayBecomeLabel(start: string): boolean {
  if (start === '') return true;
  if (!mayBegin(start) || start.length >= MAX_LABEL) return false;
  if (NUMBER_START.test(start)) return true;
  const rest = start.slice(BEFORE_ONLY.exec(start)![0].length);
  return BEGINNINGS.has(toKey(rest)) || AFTER_START.test(rest);
}

/** Whether the closing marks of a bold label may still follow this text. */
export function mayCloseMarks(start: string, { valueStart }: Label): boolean {
  return start.length - valueStart < 4 && /^[ \t>#•\-[【(（\d.)、．:]{0,24}[*_`]/.test(start);
}

/**
 * Escapes labels at the start of a line, in all languages: `Action:` becomes `Action\:`, and a heading `### Action\`.
 * Neither the model nor the decoder then takes quoted text for the format. Removing the backslashes restores the text.
 */
export function escapeLabels(text: string): string {
  const escaped = withBackslashes(text, LABELS_IN_TEXT);
  return THOUGHT_END.test(escaped) ? withBackslashes(escaped, LABELS_BEHIND_THOUGHTS) : escaped;
}

/** Inserts a backslash after each match. With many matches `replace` is three times slower. */
function withBackslashes(text: string, pattern: RegExp): string {
  let escaped = '';
  let from = 0;
  pattern.lastIndex = 0;
  while (pattern.test(text)) {
    escaped += `${text.slice(from, pattern.lastIndex)}\\`;
    from = pattern.lastIndex;
  }
  return from === 0 ? text : escaped + text.slice(from);
}

function closingMarks(line: string, at: number, before: string, after: string): number {
  const opened = before === '' ? undefined : MARKS.exec(before)?.[0];
  if (!opened || /[*_`]/.test(after)) return 0;
  return line.startsWith(opened, at) ? opened.length : 0;
}

function namesIn(list: string): string[] {
  return list === '' ? [] : list.split('|');
}

/** Pattern source of all names: the requested ones first, since they are matched most, then the longest. */
function toPattern(tables: readonly string[]): string {
  const names = tables.flatMap(namesIn).toSorted((a, b) => rank(a) - rank(b));
  return names.map((name) => name.replaceAll(' ', '[ \\t_-]{0,2}')).join('|');
}

function rank(name: string): number {
  return (ASKED_FOR.has(name) ? -MAX_LABEL : 0) - name.length;
}

function toKey(name: string): string {
  return name.toLowerCase().replace(SPACING, '');
}

const FIRST = new Set([
  ...Array.from(' 	>#*_`•-[【(（0123456789'),
  ...[...LABELS.keys()].flatMap((key) => firstOf(key)),
]);

function firstOf(key: string): string[] {
  return [key[0]!, key[0]!.toUpperCase()];
}

function mayBegin(line: string): boolean {
  return FIRST.has(line[0]!);
}
