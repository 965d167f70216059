import { setTimeout as pause } from 'node:timers/promises';
import type { JackdawClient, RunAnswer, WaitingRequest } from '../http-client/index.js';
import type { Call } from './command.types.js';
import { parseObject } from './value.parser.js';

/** Interval at which the status of a decided run is read, in ms. */
const POLL_MS = 50;

/** Asks a person for the decisions that a run waits for. */
export class DecisionPrompt {
  constructor(
    private readonly call: Call,
    private readonly client: JackdawClient,
  ) {}

  /**
   * Asks for the first request, and waits until the run has taken the decision: it resumes after each.
   * @returns false if the person postpones the decision, or the server refuses it
   */
  async decide(runId: string, [request]: readonly WaitingRequest[]): Promise<boolean> {
    if (!request || !(await this.decideOne(runId, request))) return false;
    await this.untilResumed(runId, request.id);
    return true;
  }

  private async decideOne(runId: string, request: WaitingRequest): Promise<boolean> {
    try {
      switch (request.kind) {
        case 'approval':
          return await this.approve(runId, request);
        case 'input':
          return await this.answer(runId, request);
        case 'outcome_unknown':
          return await this.settle(runId, request);
        case 'child':
          return await this.decideChild(request.child_run_id ?? '');
        case 'restored':
          return await this.release(runId);
      }
    } catch (error) {
      this.call.interrupt.signal.throwIfAborted();
      this.call.terminal.note(error instanceof Error ? error.message : String(error), 'red');
      return false;
    }
  }

  private async approve(runId: string, request: WaitingRequest): Promise<boolean> {
    const { terminal } = this.call;
    terminal.note(`Approval: ${request.tool} ${request.arguments}`, 'bold');
    for (const fact of [request.reason, request.covers && `Covers: ${JSON.stringify(request.covers)}`]) {
      if (fact !== undefined) terminal.note(fact);
    }
    const callId = request.call_id;
    const answer = await this.choose('Approve the call? [y]es, [n]o, [e]dit the arguments, [l]ater: ', 'ynel');
    switch (answer) {
      case 'y':
        await this.client.runs.approve(runId, { callId });
        return true;
      case 'e': {
        const text = (await terminal.ask('Arguments as JSON: ')) ?? '';
        await this.client.runs.approve(runId, { callId, arguments: parseObject(text, 'The arguments') });
        return true;
      }
      case 'n': {
        const reason = (await terminal.ask('Reason (optional): '))?.trim();
        await this.client.runs.deny(runId, { callId, ...(reason && { reason }) });
        return true;
      }
      default:
        return false;
    }
  }

  private async answer(runId: string, { tool, question, schema, call_id: callId }: WaitingRequest): Promise<boolean> {
    const { terminal } = this.call;
    terminal.note(`Question of ${tool}: ${question ?? ''}`, 'bold');
    if (schema !== undefined) terminal.note(`Schema of the answer: ${JSON.stringify(schema)}`);
    const text = await terminal.ask('Answer (empty: later): ');
    if (text === undefined || text.trim() === '') return false;
    await this.client.runs.input(runId, { callId, value: toAnswer(text, schema) });
    return true;
  }

  private async settle(runId: string, request: WaitingRequest): Promise<boolean> {
    const { terminal } = this.call;
    terminal.note(`The outcome of a call is unknown: ${request.tool} ${request.arguments}`, 'bold');
    if (request.reason !== undefined) terminal.note(request.reason);
    const question = 'Did it happen? [r]etry it, as it did not; it [s]ucceeded; it [f]ailed; [l]ater: ';
    const callId = request.call_id;
    switch (await this.choose(question, 'rsfl')) {
      case 'r':
        await this.client.runs.settle(runId, { callId, outcome: 'retry' });
        return true;
      case 's': {
        const result = toAnswer((await terminal.ask('Its result (text or JSON): ')) ?? '', undefined);
        await this.client.runs.settle(runId, { callId, outcome: 'succeeded', result });
        return true;
      }
      case 'f': {
        const error = (await terminal.ask('Its error: ')) ?? '';
        await this.client.runs.settle(runId, { callId, outcome: 'failed', error });
        return true;
      }
      default:
        return false;
    }
  }

  private async decideChild(childId: string): Promise<boolean> {
    const { signal } = this.call.interrupt;
    this.call.terminal.note(`The run ${childId} that it has started waits:`);
    for (;;) {
      const { status, waiting = [] } = await this.client.runs.get(childId, { signal });
      if (status !== 'waiting') return true;
      if (!(await this.decide(childId, waiting))) return false;
      for await (const _ of this.client.runs.follow(childId, { signal }));
    }
  }

  private async release(runId: string): Promise<boolean> {
    const question = 'The database was restored or copied. Let the run continue? [y]es, [l]ater: ';
    if ((await this.choose(question, 'yl')) !== 'y') return false;
    await this.client.runs.release(runId);
    return true;
  }

  /** Repeats the question until the answer starts with one of the letters; the end of the input is `l`. */
  private async choose(question: string, letters: string): Promise<string> {
    for (;;) {
      const answer = await this.call.terminal.ask(question);
      const letter = answer === undefined ? 'l' : answer.trim().charAt(0).toLowerCase();
      if (letter !== '' && letters.includes(letter)) return letter;
    }
  }

  /** A parent of a decided run resumes a moment later; until then its stream would end at once. */
  private async untilResumed(runId: string, decided: string): Promise<void> {
    const { signal } = this.call.interrupt;
    const isWaiting = ({ status, waiting = [] }: RunAnswer) =>
      status === 'waiting' && waiting.some(({ id }) => id === decided);
    while (isWaiting(await this.client.runs.get(runId, { signal }))) await pause(POLL_MS, undefined, { signal });
  }
}

/** A question for text takes the text; any other takes JSON, or text that is no JSON. */
function toAnswer(text: string, schema: WaitingRequest['schema']): unknown {
  if (schema?.['type'] === 'string') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
