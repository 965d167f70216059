import { Injectable } from '@nestjs/common';
import { type AgentRunInput, AgentService, outdatedTurn, toQuestion } from '../../../agent/index.js';
import { AppError } from '../../../errors/index.js';
import type { Principal } from '../../../kernel/index.js';
import { parseExactJson } from '../../../kernel/json/index.js';
import type { Message } from '../../../llm/chat/index.js';
import { type RunRecord, RunRemovalService, RunService } from '../../../run/index.js';
import { isTerminal, type RunItem } from '../../../run/event/index.js';
import { type DataFact, factsOfEnd } from '../../../run/facts/index.js';
import { invalid } from '../../client-conversation.js';
import { ResponseFold } from './response-fold.js';
import { parseResponseId, type ResponsePlace, runOfItem } from './response-messages.js';
import type { InputItem } from './response-request.schema.js';
import type { OutputItem } from './response.types.js';

/** Maximum size of edited arguments in the note of a result, in bytes. */
const MAX_RESULT_BYTES = 65_536;

/** A stored response: its run, and the place of its events. */
export interface StoredResponse {
  readonly run: RunRecord;
  readonly input: AgentRunInput;
  readonly place: ResponsePlace;
}

/** The conversation up to the end of a response. */
export interface EarlierConversation {
  readonly history: readonly Message[];
  /** Facts of the data that its run has read. */
  readonly facts: readonly DataFact[];
}

/** Reads responses and the conversations before them from the journals of their runs. */
@Injectable()
export class ResponseHistoryService {
  constructor(
    private readonly runs: RunService,
    private readonly agents: AgentService,
    private readonly removal: RunRemovalService,
  ) {}

  /** @throws AppError `RUN_NOT_FOUND`, also for a response that was deleted or that the caller may not see */
  async find(principal: Principal, id: string): Promise<StoredResponse> {
    const place = parseResponseId(id);
    if (!place) throw notFound(id);
    const run = await this.runs.get(principal, place.runId).catch((error: unknown) => {
      const isGone = error instanceof AppError && (error.code === 'RUN_NOT_FOUND' || error.code === 'RUN_PRUNED');
      throw isGone ? notFound(id) : error;
    });
    return { run, input: parseExactJson(run.input) as AgentRunInput, place };
  }

  /**
   * A response whose content becomes part of a run: only of the caller's own runs, as it needs no scope to read runs.
   * @throws AppError `RUN_NOT_FOUND`
   */
  async findOwn(principal: Principal, id: string): Promise<StoredResponse> {
    const stored = await this.find(principal, id);
    if (stored.run.principal.id !== principal.id) throw notFound(id);
    return stored;
  }

  /**
   * The items with the referenced ones in the place of their references.
   * @throws AppError `VALIDATION_FAILED` for an item that is not stored
   */
  async resolved(principal: Principal, items: readonly InputItem[]): Promise<readonly InputItem[]> {
    const references = items.filter((item) => item.type === 'item_reference').map(({ id }) => String(id));
    if (references.length === 0) return items;
    const known = new Map<string, InputItem>();
    for (const runId of new Set(references.map((id) => runOfItem(id) ?? ''))) {
      for (const item of await this.outputOf(principal, runId)) known.set(item.id, item);
    }
    return items.map((item, at) => {
      if (item.type !== 'item_reference') return item;
      const found = known.get(String(item.id));
      if (!found)
        throw invalid(`input.${at}.id`, `refers to an item that is not stored: "${String(item.id)}"`, item.id);
      return found;
    });
  }

  /** The items of all responses of a run. */
  private async outputOf(principal: Principal, runId: string): Promise<readonly OutputItem[]> {
    const stored = runId === '' ? undefined : await this.findOwn(principal, runId).catch(nothingIfGone);
    if (!stored) return [];
    const { clientTools = [] } = stored.input;
    const fold = new ResponseFold({
      runId,
      after: 0,
      clientTools: new Set(clientTools.map(({ name }) => name)),
      onWaiting: 'message',
      isResultOnly: false,
      mayHaveEffect: () => false,
      toResponse: () => ({}),
    });
    for await (const item of this.agents.recorded(runId)) fold.take(item);
    return fold.state.output;
  }

  /** The items of a response and those to come. @param signal ends the items, not the run */
  follow({ place }: StoredResponse, signal: AbortSignal): AsyncGenerator<RunItem, void> {
    return this.agents.follow(place.runId, place.after, signal);
  }

  /** Deletes the journal of an ended run. @throws AppError `REQUEST_REFUSED` for an open one */
  remove(principal: Principal, runId: string): Promise<void> {
    return this.removal.prune(principal, runId);
  }

  /** The items of the run in a response, from its first to its last event. */
  async items({ place }: StoredResponse): Promise<readonly RunItem[]> {
    const items: RunItem[] = [];
    for await (const item of this.agents.recorded(place.runId)) {
      if ((item.n ?? 0) <= place.after) continue;
      items.push(item);
      if (item.event.type === 'run.waiting') break;
    }
    return items;
  }

  /**
   * The conversation that a request with `previous_response_id` continues.
   * @throws AppError `VALIDATION_FAILED` for a response that has not ended, or that waits for its client
   */
  async conversation({ run, input, place }: StoredResponse): Promise<EarlierConversation> {
    const events = [];
    for await (const { event } of this.agents.recorded(run.id)) events.push(event);
    const end = events.find(isTerminal);
    if (!end) {
      const wanted = 'has not ended: send the results of its calls, or the decisions on its approval requests';
      throw invalid('previous_response_id', wanted, place.runId);
    }
    const { history = [], isContinued = false } = input.conversation ?? {};
    const { messages } = outdatedTurn(toQuestion(input), events, MAX_RESULT_BYTES);
    return { history: [...history, ...(isContinued ? messages.slice(1) : messages)], facts: factsOfEnd(end) };
  }
}

function nothingIfGone(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'RUN_NOT_FOUND')) throw error;
}

function notFound(id: string): AppError {
  return new AppError('RUN_NOT_FOUND', `There is no response "${id}".`, { details: { previous_response_id: id } });
}
