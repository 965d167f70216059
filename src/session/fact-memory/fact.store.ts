import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { newId } from '../../kernel/index.js';
import type { IndexedText } from '../../kernel/text/index.js';
import { setImmediate } from 'node:timers/promises';
import type { FindOptionsWhere } from 'typeorm';
import type { DataFact } from '../../run/facts/index.js';
import { Database } from '../../persistence/index.js';
import type { Table } from '../../persistence/schema/index.js';
import type { Dialect, SqlValue } from '../../persistence/statement/index.js';
import { Cipher, openColumn, type SealedColumn } from '../../security/encryption/index.js';
import { FactEntity, type StoredFact } from '../entities/fact.entity.js';
import { digestsOf, FACT_EMBEDDING, FACT_TEXT, spellingsOf, toPlain } from './fact-place.factory.js';
import type { Fact, FactOwner } from './fact-memory.js';

export interface NewFact {
  readonly key: string;
  readonly text: string;
  /** Index tokens of the text. */
  readonly tokens: readonly string[];
  readonly dataFacts: readonly DataFact[];
}

export interface FactVector {
  readonly id: string;
  /** In the format of `encodeVector`. */
  readonly embedding: string;
}

/** The columns of a `Fact`, and of its identity. */
const SHOWN = { id: true, keyDigest: true, text: true, dataFacts: true, createdAt: true, updatedAt: true } as const;
/** The facts of data of remembered texts whose version did not record them; as for sessions. */
const OF_EARLIER_VERSIONS: readonly DataFact[] = [{ fact: 'private', step: 'unknown' }];
const OWNED = 'tenant = ? AND user_id = ?';
const OWNED_FACT = 'fact.tenant = ? AND fact.user_id = ?';
/** Vectors decrypted before yielding to the event loop. */
const VECTORS_AT_ONCE = 100;
/** Exactly the expression of the index. */
const TSVECTOR = "to_tsvector('pg_catalog.simple', fact.terms)";

/** Facts in the journal's database. */
@Injectable()
export class FactStore {
  private readonly facts: Table<StoredFact>;

  constructor(
    private readonly database: Database,
    readonly cipher: Cipher,
  ) {
    this.facts = database.table(FactEntity);
  }

  /**
   * Adds the fact, or returns the stored fact with its key or its text. Texts that differ only in white space or final
   * stops are equal.
   */
  async add({ tenant, user }: FactOwner, { key, text, tokens, dataFacts }: NewFact, now: number): Promise<Fact> {
    const owner = { tenant, user };
    const digest = await this.digestOf(owner, text);
    const keyDigest = hash('sha256', key);
    const id = newId();
    await this.database.commit([
      this.database.insertIgnore('fact', {
        tenant,
        user_id: user,
        id,
        key_digest: keyDigest,
        digest,
        text: this.cipher.head === null ? toPlain(text) : this.seal(owner, id, FACT_TEXT, text),
        terms: tokens.join(' '),
        embedding: null,
        embedding_model: null,
        data_facts: JSON.stringify(dataFacts),
        created_at: now,
        updated_at: now,
      }),
      {
        sql: `UPDATE fact SET updated_at = ? WHERE ${OWNED} AND digest = ? AND updated_at < ?`,
        params: [now, tenant, user, digest, now],
      },
    ]);
    const stored = await this.facts.find({
      select: SHOWN,
      where: [
        { tenant, userId: user, keyDigest },
        { tenant, userId: user, digest },
      ],
    });
    const row = stored.find((each) => each.keyDigest === keyDigest) ?? stored[0];
    // A concurrent request has deleted it.
    return row ? this.toFact(owner, row) : { id, text, createdAt: now, updatedAt: now, dataFacts };
  }

  /** The digest of the owner's fact with this text; of a new fact if it does not exist. */
  private async digestOf({ tenant, user }: FactOwner, text: string): Promise<string> {
    const { In } = await import('typeorm');
    const digests = digestsOf(this.cipher, { tenant, user }, spellingsOf(text));
    const [stored] = await this.facts.find({
      select: { digest: true },
      where: { tenant, userId: user, digest: In(digests) },
      take: 1,
    });
    return stored?.digest ?? digests[0]!;
  }

  /** Up to `limit` facts with any of the tokens, ranked by the database. */
  async search(owner: FactOwner, tokens: readonly string[], limit: number): Promise<IndexedText[]> {
    if (tokens.length === 0) return [];
    const { sql, params } = searchOf(this.database.dialect, owner, tokens, limit);
    const rows = await this.database.query<{ id: string; terms: string }>(sql, params);
    return rows.map(({ id, terms }) => ({ id, tokens: terms.split(' ') }));
  }

  /** The facts of these ids, unordered. */
  async find(owner: FactOwner, ids: readonly string[]): Promise<Fact[]> {
    if (ids.length === 0) return [];
    const { In } = await import('typeorm');
    return this.read(owner, [{ id: In([...ids]) }]);
  }

  /** Up to `limit` facts, the newest first. */
  async page(owner: FactOwner, before: string | undefined, limit: number): Promise<Fact[]> {
    const { LessThan } = await import('typeorm');
    return this.read(owner, [before === undefined ? {} : { id: LessThan(before) }], limit);
  }

  /** Up to `limit` facts without a vector of that space, the newest first. */
  async withoutVector(owner: FactOwner, space: string, limit: number): Promise<Fact[]> {
    const { IsNull, Not } = await import('typeorm');
    return this.read(owner, [{ embeddingModel: IsNull() }, { embeddingModel: Not(space) }], limit);
  }

  private async read(
    { tenant, user }: FactOwner,
    conditions: readonly FindOptionsWhere<StoredFact>[],
    take?: number,
  ): Promise<Fact[]> {
    const rows = await this.facts.find({
      select: SHOWN,
      where: conditions.map((condition) => ({ tenant, userId: user, ...condition })),
      order: { id: 'DESC' },
      ...(take !== undefined && { take }),
    });
    return rows.map((row) => this.toFact({ tenant, user }, row));
  }

  /** Up to `limit` vectors of that space, those of the newest facts. */
  async vectors(owner: FactOwner, space: string, limit: number): Promise<FactVector[]> {
    const rows = await this.facts.find({
      select: { id: true, embedding: true },
      where: { tenant: owner.tenant, userId: owner.user, embeddingModel: space },
      order: { id: 'DESC' },
      take: limit,
    });
    const vectors: FactVector[] = [];
    for (const { id, embedding } of rows) {
      vectors.push({ id, embedding: this.open(owner, id, FACT_EMBEDDING, embedding!) });
      if (vectors.length % VECTORS_AT_ONCE === 0) await setImmediate();
    }
    return vectors;
  }

  async setVectors({ tenant, user }: FactOwner, space: string, vectors: readonly FactVector[]): Promise<void> {
    await this.database.commit(
      vectors.map(({ id, embedding }) => ({
        sql: `UPDATE fact SET embedding = ?, embedding_model = ? WHERE ${OWNED} AND id = ?`,
        params: [this.sealedVector({ tenant, user }, id, embedding), space, tenant, user, id],
      })),
    );
  }

  async remove({ tenant, user }: FactOwner, id: string): Promise<boolean> {
    return (await this.facts.delete({ tenant, userId: user, id })) > 0;
  }

  private sealedVector(owner: FactOwner, id: string, embedding: string): string {
    return this.cipher.head === null ? embedding : this.seal(owner, id, FACT_EMBEDDING, embedding);
  }

  private seal({ tenant, user }: FactOwner, id: string, { place }: SealedColumn, text: string): string {
    return this.cipher.seal(JSON.stringify(text), place({ tenant, user_id: user, id }));
  }

  private open({ tenant, user }: FactOwner, id: string, column: SealedColumn, stored: string): string {
    return JSON.parse(openColumn(this.cipher, column, { tenant, user_id: user, id }, stored)) as string;
  }

  private toFact(owner: FactOwner, { id, text, createdAt, updatedAt, dataFacts: recorded }: StoredFact): Fact {
    const dataFacts = recorded === null ? OF_EARLIER_VERSIONS : (JSON.parse(recorded) as DataFact[]);
    return { id, text: this.open(owner, id, FACT_TEXT, text), createdAt, updatedAt, dataFacts };
  }

  async removeAll({ tenant, user }: FactOwner): Promise<void> {
    await this.facts.delete({ tenant, userId: user });
  }
}

interface Search {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** The statement that finds an owner's facts with any of the tokens, by the full-text search of the database. */
function searchOf(dialect: Dialect, { tenant, user }: FactOwner, tokens: readonly string[], limit: number): Search {
  switch (dialect) {
    case 'sqlite':
      return {
        sql: `SELECT fact.id, fact.terms FROM fact_terms JOIN fact ON fact.terms_row = fact_terms.rowid
          WHERE fact_terms MATCH ? AND ${OWNED_FACT} ORDER BY fact_terms.rank LIMIT ?`,
        params: [tokens.join(' OR '), tenant, user, limit],
      };
    case 'postgres':
      return {
        sql: `SELECT fact.id, fact.terms FROM fact, to_tsquery('pg_catalog.simple', ?) AS wanted
          WHERE ${TSVECTOR} @@ wanted AND ${OWNED_FACT} ORDER BY ts_rank(${TSVECTOR}, wanted) DESC LIMIT ?`,
        params: [tokens.join(' | '), tenant, user, limit],
      };
    case 'mariadb': {
      const match = 'MATCH (fact.terms) AGAINST (? IN BOOLEAN MODE)';
      const any = tokens.join(' ');
      return {
        sql: `SELECT fact.id, fact.terms FROM fact WHERE ${match} AND ${OWNED_FACT} ORDER BY ${match} DESC LIMIT ?`,
        params: [any, tenant, user, any, limit],
      };
    }
  }
}
