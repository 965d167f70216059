import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { newId } from '../../common/index.js';
import { Database, refusalOf } from '../../persistence/index.js';
import { searchOf } from './fact-search.factory.js';
import type { Fact, FactOwner } from './fact.types.js';
import type { IndexedText } from './term-rank.policy.js';

interface FactRow {
  readonly id: string;
  readonly text: string;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface NewFact {
  readonly key: string;
  readonly text: string;
  /** Index tokens of the text. */
  readonly tokens: readonly string[];
}

export interface FactVector {
  readonly id: string;
  /** In the format of `encodeVector`. */
  readonly embedding: string;
}

const FACT = 'SELECT id, text, created_at, updated_at FROM fact';
const OWNED = 'tenant = ? AND user_id = ?';

/** Facts in the journal's database. */
@Injectable()
export class FactStore {
  constructor(private readonly database: Database) {}

  /**
   * Adds the fact, or returns the stored fact with its key or its text. Texts that differ only in white space or final
   * stops are equal.
   */
  async add({ tenant, user }: FactOwner, { key, text, tokens }: NewFact, now: number): Promise<Fact> {
    const digest = await this.digestOf({ tenant, user }, text);
    const keyDigest = hash('sha256', key);
    await this.database.commit([
      this.database.insertIgnore('fact', {
        tenant,
        user_id: user,
        id: newId(),
        key_digest: keyDigest,
        digest,
        text,
        terms: tokens.join(' '),
        embedding: null,
        embedding_model: null,
        created_at: now,
        updated_at: now,
      }),
      {
        sql: `UPDATE fact SET updated_at = ? WHERE ${OWNED} AND digest = ? AND updated_at < ?`,
        params: [now, tenant, user, digest, now],
      },
    ]);
    const [row] = await this.database.query<FactRow>(
      `${FACT} WHERE ${OWNED} AND (key_digest = ? OR digest = ?)
        ORDER BY CASE WHEN key_digest = ? THEN 0 ELSE 1 END LIMIT 1`,
      [tenant, user, keyDigest, digest, keyDigest],
    );
    // A concurrent request has deleted it.
    return row ? toFact(row) : { id: newId(), text, createdAt: now, updatedAt: now };
  }

  /** Earlier versions stored the digest of the exact text: such a fact is found by its likely spellings. */
  private async digestOf({ tenant, user }: FactOwner, text: string): Promise<string> {
    const plain = withoutSpelling(text);
    const digest = hash('sha256', plain);
    const others = [text, `${plain}.`, `${plain}。`].map((spelling) => hash('sha256', spelling));
    const [stored] = await this.database.query<{ digest: string }>(
      `SELECT digest FROM fact WHERE ${OWNED} AND digest IN (?, ?, ?, ?) LIMIT 1`,
      [tenant, user, digest, ...others],
    );
    return stored?.digest ?? digest;
  }

  /** Up to `limit` facts with any of the tokens, ranked by the database. */
  async search(owner: FactOwner, tokens: readonly string[], limit: number): Promise<IndexedText[]> {
    if (tokens.length === 0) return [];
    const { sql, params } = searchOf(this.database.dialect, owner, tokens, limit);
    const rows = await this.database.query<{ id: string; terms: string }>(sql, params);
    return rows.map(({ id, terms }) => ({ id, tokens: terms.split(' ') }));
  }

  /** The facts of these ids, unordered. */
  async find({ tenant, user }: FactOwner, ids: readonly string[]): Promise<Fact[]> {
    if (ids.length === 0) return [];
    const marks = ids.map(() => '?').join(', ');
    const rows = await this.database.query<FactRow>(`${FACT} WHERE ${OWNED} AND id IN (${marks})`, [
      tenant,
      user,
      ...ids,
    ]);
    return rows.map(toFact);
  }

  /** Up to `limit` facts, the newest first. */
  async page({ tenant, user }: FactOwner, before: string | undefined, limit: number): Promise<Fact[]> {
    const rows = await (before === undefined
      ? this.database.query<FactRow>(`${FACT} WHERE ${OWNED} ORDER BY id DESC LIMIT ?`, [tenant, user, limit])
      : this.database.query<FactRow>(`${FACT} WHERE ${OWNED} AND id < ? ORDER BY id DESC LIMIT ?`, [
          tenant,
          user,
          before,
          limit,
        ]));
    return rows.map(toFact);
  }

  /** Up to `limit` facts without a vector of that space, the newest first. */
  async withoutVector({ tenant, user }: FactOwner, space: string, limit: number): Promise<Fact[]> {
    const rows = await this.database.query<FactRow>(
      `${FACT} WHERE ${OWNED} AND (embedding_model IS NULL OR embedding_model <> ?) ORDER BY id DESC LIMIT ?`,
      [tenant, user, space, limit],
    );
    return rows.map(toFact);
  }

  /** Up to `limit` vectors of that space, those of the newest facts. */
  async vectors({ tenant, user }: FactOwner, space: string, limit: number): Promise<FactVector[]> {
    return this.database.query<FactVector>(
      `SELECT id, embedding FROM fact WHERE ${OWNED} AND embedding_model = ? ORDER BY id DESC LIMIT ?`,
      [tenant, user, space, limit],
    );
  }

  async setVectors({ tenant, user }: FactOwner, space: string, vectors: readonly FactVector[]): Promise<void> {
    await this.database.commit(
      vectors.map(({ id, embedding }) => ({
        sql: `UPDATE fact SET embedding = ?, embedding_model = ? WHERE ${OWNED} AND id = ?`,
        params: [embedding, space, tenant, user, id],
      })),
    );
  }

  async remove({ tenant, user }: FactOwner, id: string): Promise<boolean> {
    try {
      await this.database.commit([
        { sql: `DELETE FROM fact WHERE ${OWNED} AND id = ?`, params: [tenant, user, id], rows: 1 },
      ]);
      return true;
    } catch (error) {
      if (refusalOf(error) === 'rows') return false;
      throw error;
    }
  }

  async removeAll({ tenant, user }: FactOwner): Promise<void> {
    await this.database.commit([{ sql: `DELETE FROM fact WHERE ${OWNED}`, params: [tenant, user] }]);
  }
}

/** Characters of scripts without spaces between words, and their punctuation. */
const CJK = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\u3000-\u303f\uff00-\uff65]`;
const SPACE_BESIDE_CJK = new RegExp(`(?<=${CJK}) | (?=${CJK})`, 'gu');

/** The text without differences that do not change a fact: extra white space, and stops at its end. */
function withoutSpelling(text: string): string {
  const plain = text
    .replace(/[\s\u200b]+/g, ' ')
    .replace(SPACE_BESIDE_CJK, '')
    .replace(/[ .。．｡]+$/, '')
    .trimStart();
  return plain === '' ? text : plain;
}

function toFact({ id, text, created_at, updated_at }: FactRow): Fact {
  return { id, text, createdAt: created_at, updatedAt: updated_at };
}
