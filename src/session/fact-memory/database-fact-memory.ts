import { AppError } from '../../errors/index.js';
import { newId } from '../../kernel/index.js';
import { indexTerms, queryTerms, rankByTerms } from '../../kernel/text/index.js';
import {
  type Fact,
  FACT_LIMITS,
  FactMemory,
  type FactOwner,
  type FactPage,
  type RecalledFact,
  type RecallOptions,
  type RememberOptions,
} from './fact-memory.js';
import type { FactStore } from './fact.store.js';
import type { FactVectorService } from './fact-vector.service.js';
import { fuseRankings } from './ranking.js';
import { toQueryTokens, toTokens } from './fact-place.factory.js';

/** Facts in the journal's database, found by its full-text search and, with an embedding model, by their meaning. */
export class DatabaseFactMemory extends FactMemory {
  constructor(
    private readonly store: FactStore,
    private readonly vectors: FactVectorService | null,
  ) {
    super();
  }

  async remember(
    owner: FactOwner,
    text: string,
    { key = newId(), dataFacts = [], ...waiting }: RememberOptions = {},
  ): Promise<Fact> {
    const stored = storable(text);
    checkText(stored, 'text to remember', FACT_LIMITS.textCharacters);
    const fact = await this.store.add(
      owner,
      { key, text: stored, tokens: toTokens(owner, indexTerms(stored), this.store.cipher), dataFacts },
      Date.now(),
    );
    await this.vectors?.fillIn(owner, waiting);
    return fact;
  }

  async recall(owner: FactOwner, query: string, { limit, ...waiting }: RecallOptions = {}): Promise<RecalledFact[]> {
    checkText(query, 'query', FACT_LIMITS.queryCharacters);
    const rankings = await Promise.all([
      this.byWords(owner, query),
      this.vectors?.nearest(owner, storable(query), waiting) ?? [],
    ]);
    waiting.signal?.throwIfAborted();
    const best = fuseRankings(rankings).slice(0, within(limit, 5, FACT_LIMITS.recalled));
    const ids = best.map(({ id }) => id);
    const facts = new Map((await this.store.find(owner, ids)).map((fact) => [fact.id, fact]));
    return best.flatMap(({ id, score }) => {
      const fact = facts.get(id);
      return fact ? [{ ...fact, score }] : [];
    });
  }

  async forget(owner: FactOwner, id: string): Promise<boolean> {
    return this.store.remove(owner, id);
  }

  async list(owner: FactOwner, { before, limit }: FactPage = {}): Promise<Fact[]> {
    return this.store.page(owner, before, within(limit, 50, FACT_LIMITS.listed));
  }

  async eraseUser(tenant: string, user: string): Promise<void> {
    await this.store.removeAll({ tenant, user });
  }

  private async byWords(owner: FactOwner, query: string): Promise<string[]> {
    const tokens = toQueryTokens(owner, queryTerms(query, FACT_LIMITS.queryTerms), this.store.cipher);
    const found = await this.store.search(owner, [...tokens.keys()], FACT_LIMITS.candidates);
    const candidates = found.map((one) => ({ ...one, tokens: one.tokens.map((token) => tokens.get(token) ?? token) }));
    return rankByTerms([...new Set(tokens.values())], candidates);
  }
}

/** A text that every database stores: PostgreSQL rejects NUL, and UTF-8 has no lone surrogates. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Counts characters as JSON Schema does: in code points. @throws AppError `VALIDATION_FAILED` */
function checkText(text: string, what: string, most: number): void {
  if (text.trim() === '') throw new AppError('VALIDATION_FAILED', `The ${what} is blank: say something in it.`);
  const length = text.length > most ? Array.from(text).length : text.length;
  if (length <= most) return;
  throw new AppError(
    'VALIDATION_FAILED',
    `The ${what} has ${length} characters, and may have ${most}: make it shorter, or several.`,
  );
}

function within(value: number | undefined, fallback: number, most: number): number {
  if (value === undefined || !Number.isFinite(value)) return fallback;
  return Math.min(Math.max(Math.floor(value), 1), most);
}
