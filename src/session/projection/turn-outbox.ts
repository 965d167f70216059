import { Injectable } from '@nestjs/common';
import { parseExactJson } from '../../kernel/index.js';
import { Database, Outbox, type Row, type Statement } from '../../persistence/index.js';
import type { SessionKey } from '../session.types.js';
import type { TurnChange } from './turn-archive.js';

export type TurnOwner = Readonly<Record<'tenant' | 'session_id', string>>;

export interface PendingTurnChange {
  readonly seq: number;
  readonly change: TurnChange;
}

/**
 * Changes that the archive has yet to apply; they are in the journal from the moment of the decision. The database
 * numbers them. Their batches lock the session's row, so a session's changes are numbered in commit order: a reader of
 * one change sees all earlier ones.
 */
@Injectable()
export class TurnOutbox extends Outbox<TurnOwner, PendingTurnChange> {
  constructor(database: Database) {
    super(database, { name: 'turn_change', id: 'seq', owner: ['tenant', 'session_id'], order: 'seq' });
  }

  /** In its batch, it must follow the statement that holds the session's row. */
  add(key: SessionKey, change: TurnChange): Statement {
    return this.insert({ ...ownerOf(key), change_data: JSON.stringify(change) });
  }

  protected read({ seq, change_data }: Row): PendingTurnChange {
    return { seq: seq as number, change: parseExactJson(change_data as string) as TurnChange };
  }
}

export function ownerOf({ tenant, id }: SessionKey): TurnOwner {
  return { tenant, session_id: id };
}
