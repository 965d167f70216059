import type { JsonValue } from '../../kernel/json/index.js';
import { NO_USAGE, type RunResult } from '../../run/event/index.js';
import { factsOfEnd } from '../../run/facts/index.js';
import type { ChildStatus } from '../../run/tree/index.js';
import { addUsage } from '../../run/usage/index.js';
import { cutText, failedResult, succeededCall, type SucceededCall } from '../../tool/result/index.js';
import { useOutcome } from '../incomplete-outcome.policy.js';
import type { CalledRun } from '../reasoning.types.js';

type Ended = Extract<ChildStatus, { kind: 'ended' }>;

/** The result of a call that is a child run; without `child` if no run was started. */
export interface ChildResult extends SucceededCall {
  readonly child?: CalledRun;
}

/**
 * Maps the end of a child run to the result of its call: the answer, or an error with the reason.
 * @param isHandoff whether the answer becomes that of the calling run
 * @param maxBytes maximum size of a result, in UTF-8 bytes
 */
export function childResult(tool: string, ended: Ended, isHandoff: boolean, maxBytes: number): ChildResult {
  const { end, agent, durationMs } = ended;
  const facts = factsOfEnd(end);
  const usage = addUsage(end.usage, end.children_usage ?? NO_USAGE);
  const child = { run_id: end.run_id, usage, ...(facts.length > 0 && { facts }) };
  switch (end.type) {
    case 'run.completed': {
      const outcome = { finish_reason: end.finish_reason, subject: `The agent "${agent}"` };
      // After a hand-off even an incomplete answer is this run's answer; the finish reason of this run marks it.
      const use = useOutcome(outcome, isHandoff ? 'accept' : 'fail');
      if (use.kind === 'failed')
        return { result: failed(tool, `${use.failure.message}${reached(end)}`, maxBytes, durationMs), child };
      if (isHandoff) {
        const said = use.kind === 'whole' ? 'has answered' : `gave an incomplete answer (${use.finish_reason})`;
        return {
          ...called(tool, `The agent "${agent}" ${said}.`, maxBytes, durationMs),
          child: handed(child, ended),
        };
      }
      return { ...called(tool, 'output' in end ? (end.output as JsonValue) : end.result, maxBytes, durationMs), child };
    }
    case 'run.failed': {
      const { code, message } = end.error;
      return { result: failed(tool, `The agent "${agent}" failed (${code}): ${message}`, maxBytes, durationMs), child };
    }
    case 'run.cancelled': {
      const error = `The agent "${agent}" was cancelled before it came to an answer.`;
      return { result: failedResult(tool, 'TOOL_CANCELLED', error, durationMs), child };
    }
  }
}

function handed(child: CalledRun, { end, agent }: Ended): CalledRun {
  const { result: text, finish_reason, model } = end;
  const output = 'output' in end && { output: end.output };
  return { ...child, answer: { agent, text, ...output, finish_reason, model } };
}

function called(tool: string, value: JsonValue, maxBytes: number, elapsedMs: number): SucceededCall {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return succeededCall(tool, { value, text }, maxBytes, elapsedMs);
}

function failed(tool: string, error: string, maxBytes: number, elapsedMs: number) {
  return failedResult(tool, 'TOOL_FAILED', cutText(error, maxBytes), elapsedMs);
}

function reached({ result }: RunResult): string {
  return result === '' ? '' : ` Its text so far: ${result}`;
}
