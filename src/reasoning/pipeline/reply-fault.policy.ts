import { AppError } from '../../common/index.js';
import type { ResponseFormat } from '../../llm/index.js';
import { parseOutput, readOutput } from '../output/output.parser.js';
import { type DecodedReply, isCut } from '../protocols/protocol.js';
import type { CallLoop, Loop } from '../reasoning.types.js';
import { describe, isCalled, wantedCall } from './call-choice.policy.js';
import type { RecordedReply } from './screened-reply.factory.js';

/** Maximum corrections of a structured answer in one run. */
const MAX_REPAIRS = 2;

/** Why a reply cannot be used. */
export type ReplyFault =
  /** The reply ended normally, without text and calls. */
  | { readonly kind: 'empty' }
  /** The reply lacks the required call. */
  | { readonly kind: 'uncalled' }
  /** The answer does not have the required format. */
  | { readonly kind: 'format'; readonly problem: string; readonly mayRepair: boolean };

type FormatFault = Extract<ReplyFault, { kind: 'format' }>;

/**
 * The value of an answer with a format, or the fault of a reply. Both are `null` for other replies and for a truncated
 * reply.
 */
export interface ReadReply {
  readonly output: Loop['output'];
  readonly fault: ReplyFault | null;
}

/**
 * Checks whether the loop can use a decoded reply.
 * @param masked the decoded reply, masked
 * @param given the reply's text before the mask, which does not make an answer invalid
 */
export function readReply(loop: Loop, reply: RecordedReply, masked: DecodedReply, given: string): ReadReply {
  const { text, calls } = masked;
  const { responseFormat } = loop.request;
  if (isCut(reply)) return { output: null, fault: null };
  if (text.trim() === '' && calls.length === 0) return { output: null, fault: { kind: 'empty' } };
  if (!isCalled(loop, calls)) return { output: null, fault: { kind: 'uncalled' } };
  if (responseFormat === undefined || calls.length > 0) return { output: null, fault: null };
  return readAnswer(reply, text, given, responseFormat);
}

function readAnswer(reply: RecordedReply, text: string, given: string, format: ResponseFormat): ReadReply {
  if (!reply.isMasked) {
    const checked = parseOutput(given, format);
    if (checked.kind !== 'valid') {
      return { output: null, fault: { ...checked, kind: 'format', mayRepair: checked.kind === 'invalid' } };
    }
    if (text === given) return { output: checked, fault: null };
  }
  const { parsed } = readOutput(text);
  return { output: parsed.ok ? { value: parsed.value } : null, fault: null };
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
  loop.corrections = [
    ...loop.corrections,
    { role: 'assistant', content: loop.decoded!.text },
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
    `The answer of the model "${model.name}" of ${model.provider} does not have the format that was asked for${often}: ${problem}.`,
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
