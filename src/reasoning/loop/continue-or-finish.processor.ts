import { AppError, type ErrorCode } from '../../errors/index.js';
import type { FinishReason, Message, ResponseFormat } from '../../llm/chat/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import type { RunFinishReason } from '../../run/event/index.js';
import { parseOutput, readOutput } from '../output/output.parser.js';
import { type DecodedReply, isCut } from '../protocols/protocol.js';
import type { CallLoop, HandedAnswer, Loop } from '../reasoning.types.js';
import { Processor } from './processor.js';
import { describe, type FormatVerdict, isCalled, type RecordedReply, wantedCall } from './shown-text.builder.js';

/** Maximum corrections of a structured answer in one run. */
const MAX_REPAIRS = 2;

/**
 * Requests the answer that an empty reply after tool results lacks, as Anthropic recommends; a plain retry gets the same
 * reply (platform.claude.com, "Handling stop reasons").
 */
const CONTINUE: Message = { role: 'user', content: 'Please continue: give the answer, with the results above.' };

const VALID: FormatVerdict = { kind: 'valid' };

/** Why a reply cannot be used. */
export type ReplyFault =
  /** The reply after tool results ended normally, without text and calls. */
  | { readonly kind: 'unanswered' }
  /** The reply ended normally, without text and calls. */
  | { readonly kind: 'empty' }
  /** The reply lacks the required call. */
  | { readonly kind: 'uncalled' }
  /** The answer does not have the required format. */
  | FormatFault;

type FormatFault = Extract<FormatVerdict, { kind: 'format' }>;

/**
 * The value of an answer with a format, or the fault of a reply. Both are `null` for other replies and for a truncated
 * reply.
 */
export interface ReadReply {
  readonly output: Loop['output'];
  readonly fault: ReplyFault | null;
  /** For an answer with a format. */
  readonly verdict?: FormatVerdict;
}

/**
 * Checks whether the loop can use a decoded reply.
 * @param masked the decoded reply, masked
 * @param given the reply's text before the mask, which does not make an answer invalid
 */
export async function readReply(
  loop: Loop,
  reply: RecordedReply,
  masked: DecodedReply,
  given: string,
): Promise<ReadReply> {
  const { text, calls } = masked;
  const { responseFormat } = loop.request;
  if (isCut(reply)) return { output: null, fault: null };
  if (text.trim() === '' && calls.length === 0 && !isContinued(loop)) {
    return { output: null, fault: { kind: mayContinue(loop) ? 'unanswered' : 'empty' } };
  }
  if (!isCalled(loop, calls)) return { output: null, fault: { kind: 'uncalled' } };
  if (responseFormat === undefined || calls.length > 0) return { output: null, fault: null };
  return readAnswer(reply, text, given, responseFormat);
}

/** The tools may have had effects, so the run must not fail. */
function mayContinue({ version, turn }: Loop): boolean {
  return version >= 4 && turn.at(-1)?.role === 'tool';
}

/** Whether the model was asked to continue its empty reply. */
export function isContinued({ corrections }: Loop): boolean {
  return corrections.includes(CONTINUE);
}

/** Asks once for the missing answer; if the next reply is empty too, the answer is empty. */
export function continueReply(loop: Loop): void {
  loop.corrections = [CONTINUE];
}

async function readAnswer(
  reply: RecordedReply,
  text: string,
  given: string,
  format: ResponseFormat,
): Promise<ReadReply> {
  const verdict = reply.verdict ?? (reply.isMasked ? VALID : await judge(given, format));
  if (verdict.kind === 'format') return { output: null, fault: verdict, verdict };
  const { parsed } = readOutput(text);
  return { output: parsed.ok ? { value: parsed.value } : null, fault: null, verdict };
}

async function judge(text: string, format: ResponseFormat): Promise<FormatVerdict> {
  const checked = await parseOutput(text, format);
  if (checked.kind === 'valid') return VALID;
  return { kind: 'format', problem: checked.problem, mayRepair: checked.kind === 'invalid' };
}

/**
 * Adds a correction for the model; clients do not see it.
 * @throws AppError `OUTPUT_INVALID` if no further correction is allowed
 */
export function correct(loop: Loop, fault: FormatFault): void {
  const { problem, mayRepair } = fault;
  if (!mayRepair || loop.repairs >= MAX_REPAIRS || (loop.version >= 3 && isAtLimit(loop)))
    throw outputInvalid(loop, fault);
  loop.repairs++;
  const { text } = loop.decoded!;
  loop.corrections = [
    ...loop.corrections,
    ...(text.trim() === '' ? [] : [{ role: 'assistant' as const, content: text }]),
    {
      role: 'user',
      content: `This answer cannot be used: ${problem}. Answer again, with the whole corrected JSON and nothing else.`,
    },
  ];
}

/** Whether the run has used up its limit of model calls. Until version 2 of the loop a correction was not counted. */
export function isAtLimit({ request: { limits }, version, iteration, repairs }: CallLoop): boolean {
  return iteration + (version >= 3 ? repairs : 0) >= limits.maxIterations;
}

function outputInvalid(loop: Loop, { problem, mayRepair }: FormatFault): AppError {
  const { request, repairs } = loop;
  const { model, limits } = request;
  const after = repairs === 0 ? '' : `, also after ${repairs === 1 ? 'a correction' : `${repairs} corrections`}`;
  const isEarly = mayRepair && repairs < MAX_REPAIRS;
  const often = isEarly ? `${after}, and the run reached its limit of ${limits.maxIterations} model calls` : after;
  return new AppError(
    'OUTPUT_INVALID',
    `The answer of the model "${model.name}" of ${model.provider} does not have the requested format${often}: ${problem}.`,
    { isRetryable: mayRepair, details: { problem, repairs } },
  );
}

/** The error of a reply that was still unusable after a retry. */
export function uselessReply(loop: Loop, { kind }: ReplyFault): AppError {
  const { provider, name } = loop.request.model;
  const wanted = wantedCall(loop);
  const what = kind === 'uncalled' && wanted ? `did not call ${describe(wanted)}` : 'gave an empty reply';
  return new AppError('MODEL_BAD_REPLY', `The model "${name}" of ${provider} ${what}, twice; try again.`, {
    isRetryable: true,
  });
}

/** Error codes of calls that were denied, expired or not settled. */
const ENDING: ReadonlySet<ErrorCode> = new Set(['TOOL_DENIED', 'TOOL_EXPIRED', 'TOOL_OUTCOME_UNKNOWN']);

/** Decides whether the loop continues. */
export class ContinueOrFinishProcessor extends Processor {
  readonly name = 'continue-or-finish';

  async process(loop: Loop): Promise<void> {
    const failure = endingOf(loop);
    if (failure) throw failure;
    if (loop.waiting.size > 0) loop.end = { kind: 'waiting', requests: inOrder(loop.waiting) };
    else if (loop.handedTo) loop.end = handedOver(loop, loop.handedTo.answer);
    else if (loop.decoded!.calls.length === 0)
      loop.end = { kind: 'answered', finishReason: toRunReason(loop.reply!.finishReason) };
    else if (isAtLimit(loop)) loop.end = { kind: 'answered', finishReason: 'iteration_limit' };
  }
}

/** The other agent's answer ends the turn. */
function handedOver(loop: Loop, { text, finish_reason }: HandedAnswer): Loop['end'] {
  loop.turn.push({ role: 'assistant', content: text });
  return { kind: 'answered', finishReason: finish_reason };
}

/** The error that ends the run after a denied or expired call, if the rules of the request say so. */
export function endingOf({
  request: { waiting },
  results,
}: Pick<CallLoop, 'request'> & Pick<Loop, 'results'>): AppError | undefined {
  for (const result of results.values()) {
    if (result.success) continue;
    const { code, tool, error } = result;
    const rule = code === 'TOOL_DENIED' ? waiting?.onDenied : waiting?.onExpired;
    if (ENDING.has(code) && rule === 'end')
      return new AppError(code, `The call of tool "${tool}" ended the run: ${error}`);
  }
  return undefined;
}

function inOrder(waiting: ReadonlyMap<number, readonly WaitingRequest[]>): readonly WaitingRequest[] {
  return [...waiting].toSorted(([a], [b]) => a - b).flatMap(([, requests]) => requests);
}

function toRunReason(reason: FinishReason): RunFinishReason {
  switch (reason) {
    case 'length':
    case 'content_filter':
      return reason;
    case 'stop':
    case 'tool_calls':
      return 'stop';
  }
}
