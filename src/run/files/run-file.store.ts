import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { Principal } from '../../kernel/index.js';
import { Database, inLists } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import { Cipher } from '../../security/encryption/index.js';
import { stepPlace } from '../run-record.mapper.js';
import { insertStep } from '../run-statement.factory.js';
import { FILE_STEP, toFileMark, toFileSteps, toRunFile } from './run-file.mapper.js';
import type { RunFile } from './run-file.types.js';

/** A turn of a session, by its run. The run of an imported turn is one of another system. */
export interface FiledTurn {
  readonly tenant: string;
  readonly sessionId: string;
  readonly runId: string;
}

interface FileKey {
  readonly name: string;
  readonly run_id: string;
  readonly kind: string;
}

interface FileRow {
  readonly subject: string;
  readonly result: string;
}

/** The session of a turn. */
type FiledSession = Omit<FiledTurn, 'runId'>;

/** The kind of a row by which a branch of a session refers to the files of a run of another session. */
const LINK = 'file-link';
/** Ids of runs have no colon: an import can never write to a run. */
const IMPORTED = 'imported:';
/** The first text after all that start with `IMPORTED`. */
const AFTER_IMPORTED = 'imported;';

/**
 * The files of turns, for exports, and files that came with an imported session. These are stored as those of a run, but
 * belong to the session.
 */
@Injectable()
export class RunFileStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  /**
   * The files of a turn: those that were imported with it, else those of its run, if the run is one of the session or of
   * a session from which it branched. An import may name any run.
   * @param mostBytes maximum size of all files together; those beyond it are left out
   */
  async ofTurn(turn: FiledTurn, mostBytes: number): Promise<RunFile[]> {
    const { tenant, sessionId, runId } = turn;
    const files = [...(await this.select(importedId(turn), tenant, 'name LIKE ?', [`${nameIn(sessionId)}:%`]))];
    if (files.length === 0) {
      const isOfSession = `(EXISTS (SELECT 1 FROM run WHERE id = ? AND session_id = ?)
        OR EXISTS (SELECT 1 FROM run_step link WHERE link.run_id = ? AND link.name = ?))`;
      const params = [runId, sessionId, importedId(turn), linkIn(sessionId)];
      files.push(...(await this.select(runId, tenant, isOfSession, params)));
    }
    let left = mostBytes;
    const read: RunFile[] = [];
    for (const { name, run_id, subject } of files) {
      const { bytes } = toFileMark(subject);
      if (bytes > left) continue;
      left -= bytes;
      read.push(...(await this.read(tenant, run_id, name)));
    }
    return read.toSorted((a, b) => a.n - b.n);
  }

  /** A file that this principal imported with a turn of this run, by its number; the first import counts. */
  async imported({ tenant, id: importer }: Principal, runId: string, n: number): Promise<RunFile | undefined> {
    const id = importedId({ tenant, runId });
    const where = 'name LIKE ? AND subject LIKE ? ORDER BY created_at, name';
    const [row] = await this.select(id, tenant, where, [`${FILE_STEP}:%:${importerIn(importer)}:%`, `${n} %`]);
    return row && (await this.read(tenant, id, row.name))[0];
  }

  /** The numbers of the files of runs, and of those that were imported with turns of these runs. */
  async numbers(tenant: string, runIds: readonly string[]): Promise<{ readonly runId: string; readonly n: number }[]> {
    if (runIds.length === 0) return [];
    const runs = new Map(runIds.flatMap((runId) => [runId, importedId({ tenant, runId })].map((id) => [id, runId])));
    const rows = await this.database.query<Pick<FileKey, 'run_id'> & Pick<FileRow, 'subject'>>(
      `SELECT run_id, subject FROM run_step WHERE tenant = ? AND kind = ? AND run_id IN (${[...runs].map(() => '?').join(', ')})`,
      [tenant, FILE_STEP, ...runs.keys()],
    );
    return rows.map(({ run_id, subject }) => ({ runId: runs.get(run_id)!, n: toFileMark(subject).n }));
  }

  /** Stores the files of a turn that a principal, the importer, has imported. */
  add(turn: FiledTurn, importer: string, files: readonly RunFile[], now: number): Statement[] {
    const owner = { id: importedId(turn), tenant: turn.tenant, epoch: 0 };
    const steps = toFileSteps(`${placeIn(turn.sessionId)}:${importerIn(importer)}`, files);
    return steps.map((step) => insertStep(owner, step, now, this.cipher));
  }

  /** Whether turns of a session may have files. */
  async hasFiles({ tenant, sessionId }: FiledSession): Promise<boolean> {
    const imported = 'SELECT name FROM run_step WHERE run_id > ? AND run_id < ? AND tenant = ? AND name LIKE ? LIMIT 1';
    const params = [IMPORTED, AFTER_IMPORTED, tenant, `${nameIn(sessionId)}:%`];
    if ((await this.database.query(imported, params)).length > 0) return true;
    const own = `SELECT run.id FROM run JOIN run_step ON run_step.run_id = run.id
      WHERE run.tenant = ? AND run.session_id = ? AND run_step.kind = ? LIMIT 1`;
    return (await this.database.query(own, [tenant, sessionId, FILE_STEP])).length > 0;
  }

  /**
   * Gives a branch of a session the files of the copied turns: copies of imported files, as the session may be deleted,
   * and references to files of runs. The statements are rejected if a copied file is deleted meanwhile.
   * @param owner id of the principal who creates the branch
   * @param runIds runs of the copied turns
   */
  async branch(from: FiledSession, to: FiledSession, owner: string, runIds: readonly string[]): Promise<Statement[]> {
    const { tenant, sessionId } = from;
    const statements: Statement[] = [];
    for (const { marks, params } of inLists(runIds.map((runId) => importedId({ tenant, runId })))) {
      const sql = `SELECT run_id, name, kind FROM run_step WHERE run_id IN (${marks}) AND tenant = ? AND name LIKE ?`;
      const rows = await this.database.query<FileKey>(sql, [...params, tenant, `${nameIn(sessionId)}:%`]);
      for (const row of rows)
        statements.push(...(row.kind === LINK ? [this.link(row.run_id, to)] : await this.copy(row, to, owner)));
    }
    for (const { marks, params } of inLists(runIds)) {
      const sql = `SELECT DISTINCT run.id FROM run JOIN run_step ON run_step.run_id = run.id
        WHERE run.id IN (${marks}) AND run.tenant = ? AND run.session_id = ? AND run_step.kind = ?`;
      const runs = await this.database.query<{ readonly id: string }>(sql, [...params, tenant, sessionId, FILE_STEP]);
      statements.push(...runs.map(({ id: runId }) => this.link(importedId({ tenant, runId }), to)));
    }
    return statements;
  }

  /** Deletes the imported files of a session, or of one turn of it, and references to files. */
  remove({ tenant, sessionId, runId }: FiledSession & Partial<FiledTurn>): Statement {
    const name = `${nameIn(sessionId)}:%`;
    if (runId !== undefined) {
      const sql = 'DELETE FROM run_step WHERE run_id = ? AND tenant = ? AND name LIKE ?';
      return { sql, params: [importedId({ tenant, runId }), tenant, name] };
    }
    const sql = 'DELETE FROM run_step WHERE run_id > ? AND run_id < ? AND tenant = ? AND name LIKE ?';
    return { sql, params: [IMPORTED, AFTER_IMPORTED, tenant, name] };
  }

  private link(id: string, { tenant, sessionId }: FiledSession): Statement {
    const step = { name: linkIn(sessionId), kind: LINK, subject: '', result: '{}' };
    return insertStep({ id, tenant, epoch: 0 }, step, Date.now(), this.cipher);
  }

  private async copy({ run_id, name }: FileKey, to: FiledSession, owner: string): Promise<Statement[]> {
    const { tenant, sessionId } = to;
    const isThere = 'UPDATE run_step SET epoch = epoch WHERE run_id = ? AND name = ?';
    const row = await this.row(run_id, name);
    const step = {
      name: `${nameIn(sessionId)}:${importerIn(owner)}:${name.slice(name.lastIndexOf(':') + 1)}`,
      kind: FILE_STEP,
      subject: row?.subject ?? '',
      result: row ? this.cipher.open(row.result, stepPlace(tenant, run_id, name)) : '{}',
    };
    const copied = insertStep({ id: run_id, tenant, epoch: 0 }, step, Date.now(), this.cipher);
    return [{ sql: isThere, params: [run_id, name], rows: 1 }, copied];
  }

  private select(id: string, tenant: string, where: string, params: readonly string[]) {
    return this.database.query<Pick<FileKey, 'name' | 'run_id'> & Pick<FileRow, 'subject'>>(
      `SELECT name, run_id, subject FROM run_step WHERE run_id = ? AND tenant = ? AND kind = ? AND ${where}`,
      [id, tenant, FILE_STEP, ...params],
    );
  }

  private async read(tenant: string, runId: string, name: string): Promise<RunFile[]> {
    const row = await this.row(runId, name);
    return row ? [toRunFile(row.subject, this.cipher.open(row.result, stepPlace(tenant, runId, name)))] : [];
  }

  private async row(runId: string, name: string): Promise<FileRow | undefined> {
    const sql = 'SELECT subject, result FROM run_step WHERE run_id = ? AND name = ?';
    return (await this.database.query<FileRow>(sql, [runId, name]))[0];
  }
}

function importedId({ tenant, runId }: Pick<FiledTurn, 'tenant' | 'runId'>): string {
  return IMPORTED + hash(`${tenant}\n${runId}`);
}

/** The place of imported files: several sessions may have turns of the same run. */
function placeIn(sessionId: string): string {
  return hash(sessionId);
}

/** An import may name any run: only its importer reads its files as those of the run. */
function importerIn(principalId: string): string {
  return hash(principalId).slice(0, 16);
}

function nameIn(sessionId: string): string {
  return `${FILE_STEP}:${placeIn(sessionId)}`;
}

function linkIn(sessionId: string): string {
  return `${nameIn(sessionId)}:link`;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}
