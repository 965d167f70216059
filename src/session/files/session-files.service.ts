import { Inject, Injectable } from '@nestjs/common';
import { agentConfig, type AgentConfig } from '../../config/namespaces/index.js';
import { AppError } from '../../errors/index.js';
import { fieldMistake } from '../../kernel/index.js';
import { mediaTypeOf } from '../../kernel/media/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import { type RunFile, RunFileStore } from '../../run/files/index.js';
import type { ExportedFile, SessionExport } from '../session-export.schema.js';
import type { SessionKey, StoredTurn } from '../session.types.js';

/** Maximum size of all files of an export, in bytes. */
const MAX_EXPORTED = 32 * 1024 * 1024;
/** Maximum size of all files of an import, as a multiple of that of one tool result. */
const RESULTS_AN_IMPORT = 20;

/** Files to which the messages of a session refer, in exports and imports. Imported ones are deleted with the session. */
@Injectable()
export class SessionFiles {
  constructor(
    private readonly store: RunFileStore,
    @Inject(agentConfig.KEY) private readonly config: AgentConfig,
  ) {}

  /** The files of turns, by run; as many as an export may have, the latest first. */
  async exported(key: SessionKey, turns: readonly StoredTurn[]): Promise<ReadonlyMap<string, ExportedFile[]>> {
    const found = new Map<string, ExportedFile[]>();
    let left = MAX_EXPORTED;
    for (const { runId } of turns.toReversed()) {
      if (left <= 0) break;
      const files = await this.store.ofTurn({ ...placeOf(key), runId }, left);
      for (const { bytes } of files) left -= bytes.length;
      if (files.length > 0) found.set(runId, files.map(toExported));
    }
    return found;
  }

  /**
   * Stores the files of imported turns.
   * @param importer id of a principal
   * @param at path of the session in the request, such as `session.`
   * @throws AppError `VALIDATION_FAILED` for files above the limits
   */
  imported(key: SessionKey, importer: string, turns: SessionExport['turns'], at: string): Statement[] {
    const { maxFileBytes } = this.config;
    const most = maxFileBytes * RESULTS_AN_IMPORT;
    let total = 0;
    return turns.flatMap(({ run_id: runId, files: given = [] }, index) => {
      const files = given.map(fromExported);
      for (const [nth, { bytes }] of files.entries()) {
        total += bytes.length;
        const field = `${at}turns.${index}.files.${nth}.data`;
        if (bytes.length > maxFileBytes) throw excess(field, `a file may have ${maxFileBytes} bytes`);
        if (total > most) throw excess(field, `all files together may have ${most} bytes`);
      }
      return this.store.add({ ...placeOf(key), runId }, importer, files, Date.now());
    });
  }

  /**
   * Gives a branch of a session the files of the copied turns.
   * @param owner id of the principal who creates the branch
   * @param readRuns reads the runs of the copied turns; called only if the session has files
   */
  async branch(
    from: SessionKey,
    to: SessionKey,
    owner: string,
    readRuns: () => Promise<readonly string[]>,
  ): Promise<Statement[]> {
    if (!(await this.store.hasFiles(placeOf(from)))) return [];
    return this.store.branch(placeOf(from), placeOf(to), owner, await readRuns());
  }

  /** Deletes the imported files of a session, or of one turn of it. */
  remove(key: SessionKey, runId?: string): Statement {
    return this.store.remove({ ...placeOf(key), ...(runId !== undefined && { runId }) });
  }
}

function placeOf({ tenant, id: sessionId }: SessionKey) {
  return { tenant, sessionId };
}

function toExported({ n, mediaType, bytes, name }: RunFile): ExportedFile {
  return { n, media_type: mediaType, bytes: bytes.length, ...(name && { name }), data: bytes.toString('base64') };
}

/** Untrusted: the bytes decide on size and image types. */
function fromExported({ n, media_type, name, data }: ExportedFile): RunFile {
  const bytes = Buffer.from(data, 'base64');
  return { n, mediaType: mediaTypeOf(bytes, media_type), bytes, ...(name && { name }) };
}

function excess(field: string, message: string): AppError {
  const text = `The session cannot be imported: ${field}: ${message}. Leave the file out, or raise AGENT_MAX_FILE_BYTES.`;
  return new AppError('VALIDATION_FAILED', text, { details: { errors: [fieldMistake(field, message, 'max', '')] } });
}
