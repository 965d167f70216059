import { ModelBudget } from '../../src/llm/budget/index.js';
import type { Database } from '../../src/persistence/index.js';
import { LocalRunLease, type RunLease } from '../../src/run/run-lease.js';
import { RunHandlerRegistry } from '../../src/run/run-handler.registry.js';
import { RunJournal } from '../../src/run/run-journal.js';
import { Ownership } from '../../src/security/index.js';
import { type Cipher, PLAIN_CIPHER } from '../../src/security/encryption/index.js';

/** The default rule of ownership. */
export const BY_PRINCIPAL = new Ownership();

/** Budgets without limits. */
class NoBudget extends ModelBudget {
  readonly isForAll = false;

  reserve(): null {
    return null;
  }

  rebuild(): Promise<number> {
    return Promise.resolve(0);
  }
}

interface JournalParts {
  readonly lease?: RunLease;
  readonly cipher?: Cipher;
  readonly handlers?: RunHandlerRegistry;
}

/** A journal without budgets; by default that of the only process, unencrypted. */
export function runJournal(database: Database, parts: JournalParts = {}): RunJournal {
  const { lease = new LocalRunLease(), cipher = PLAIN_CIPHER, handlers = new RunHandlerRegistry() } = parts;
  return new RunJournal(database, lease, cipher, new NoBudget(), handlers, BY_PRINCIPAL);
}
