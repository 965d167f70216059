import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { TokenCounterRegistry } from '../../llm/index.js';
import { SecurityPolicies } from '../../tool-policy/index.js';
import { countTurn } from '../memory/turn-memory.js';
import { toMessages, type SessionExport } from '../session-export.schema.js';
import { PINNED, type StoredTurn } from '../session.types.js';
import { screenMessage, type ImportFilters } from './screened-message.policy.js';

/** Turns converted before yielding to the event loop. */
const TURNS_AT_ONCE = 20;

/** Converts the turns of an import: screened, counted, and numbered from 1. */
@Injectable()
export class ImportedTurnFactory {
  constructor(
    private readonly counters: TokenCounterRegistry,
    private readonly policies: SecurityPolicies,
  ) {}

  /**
   * Yields regularly, so that a long session does not block the event loop.
   * @param at path of the session in the request, such as `session.`
   * @throws AppError `INPUT_BLOCKED`
   */
  async create(turns: SessionExport['turns'], at: string): Promise<StoredTurn[]> {
    const counter = await this.counters.of('');
    const filters: ImportFilters = { input: this.policies.filter('input'), results: this.policies.filter('results') };
    const stored: StoredTurn[] = [];
    for (const [index, turn] of turns.entries()) {
      const messages = toMessages(turn).map((message, nth) =>
        screenMessage(message, filters, `import (${at}turns.${index}.messages.${nth})`),
      );
      const isMarked = turn.pinned || messages.some(({ role }) => role === 'system');
      stored.push({
        turn: index + 1,
        runId: turn.run_id,
        status: turn.status,
        messages,
        ...countTurn(counter, messages),
        mark: isMarked ? PINNED : null,
        createdAt: turn.created_at,
      });
      if (stored.length % TURNS_AT_ONCE === 0) await setImmediate();
    }
    return stored;
  }
}
