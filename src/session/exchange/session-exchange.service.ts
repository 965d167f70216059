import { Injectable } from '@nestjs/common';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../errors/index.js';
import { issueMistakes, type Principal } from '../../kernel/index.js';
import { canonicalJson } from '../../kernel/json/index.js';
import { withLongCalls } from '../../persistence/index.js';
import { hasScope } from '../../security/index.js';
import { SigningKeyStore } from '../../security/encryption/index.js';
import { SessionFiles } from '../files/session-files.service.js';
import { type SessionExport, sessionExportSchema, toExport } from '../session-export.schema.js';
import { SessionStore } from '../session-store.js';
import { SessionService } from '../session.service.js';
import { PINNED, type SessionRecord, type StoredTurn } from '../session.types.js';
import { assertSessionId } from '../turn-place.factory.js';
import { TurnStore } from '../turns/turn-store.js';
import { ImportedTurnFactory } from './imported-turn.factory.js';

const KEY_NAME = 'session-export';
/** Turns signed before yielding to the event loop. */
const TURNS_AT_ONCE = 20;

type Content = Pick<SessionExport, 'version' | 'session' | 'turns'>;

/**
 * Signs exports of sessions with HMAC-SHA256. A signature is valid for one tenant, and for the content, not for its
 * spelling as JSON.
 */
@Injectable()
export class ExportSignatureService {
  constructor(private readonly keys: SigningKeyStore) {}

  /** @returns the signature in base64url. @throws AppError `ENCRYPTION_KEY_UNKNOWN`, `DATA_TAMPERED` */
  async sign(tenant: string, content: Content): Promise<string> {
    return (await this.digest(tenant, content)).toString('base64url');
  }

  /** Whether this installation signed exactly this content for the tenant. @throws AppError as `sign` */
  async isValid(tenant: string, content: Content, signature: string | undefined): Promise<boolean> {
    if (signature === undefined) return false;
    const given = Buffer.from(signature, 'base64url');
    const expected = await this.digest(tenant, content);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  private async digest(tenant: string, { version, session, turns }: Content): Promise<Buffer> {
    const hmac = createHmac('sha256', await this.keys.open(KEY_NAME));
    // JSON has no line break outside of escapes, so that parts cannot shift.
    const add = (part: unknown) => hmac.update(`${canonicalJson(part)}\n`);
    add([KEY_NAME, tenant, version, session, turns.length]);
    for (const [at, turn] of turns.entries()) {
      add(turn);
      if (at % TURNS_AT_ONCE === TURNS_AT_ONCE - 1) await setImmediate();
    }
    return hmac.digest();
  }
}

const TURN_PAGE = 100;
const TRUST = 'sessions:trust';

/** Options of an import. */
export interface SessionImport {
  /** Trust an import without a valid signature; needs the scope `sessions:trust`. */
  readonly isTrusted?: boolean | undefined;
  /** Path of the session in the request, such as `session.`. */
  readonly at?: string;
}

/** Exports and imports sessions. An import without a valid signature is untrusted: the session is tainted. */
@Injectable()
export class SessionExchangeService {
  constructor(
    private readonly sessions: SessionService,
    private readonly store: SessionStore,
    private readonly turns: TurnStore,
    private readonly files: SessionFiles,
    private readonly signatures: ExportSignatureService,
    private readonly importedTurns: ImportedTurnFactory,
  ) {}

  /** Exports a complete session, signed for its tenant. @throws AppError `SESSION_NOT_FOUND` */
  export(principal: Principal, id: string): Promise<SessionExport> {
    return withLongCalls(() => this.read(principal, id));
  }

  private async read(principal: Principal, id: string): Promise<SessionExport> {
    const session = await this.sessions.get(principal, id);
    const turns: StoredTurn[] = [];
    for (let after = 0; after < session.lastTurn;) {
      const page = await this.sessions.turns(principal, id, after, TURN_PAGE);
      // A later turn could be untrusted, although the session as read is not.
      turns.push(...page.filter(({ turn }) => turn <= session.lastTurn));
      if (page.length < TURN_PAGE) break;
      after = page.at(-1)!.turn;
    }
    const exported = toExport(session, turns, PINNED, await this.files.exported(session, turns));
    return { ...exported, signature: await this.signatures.sign(principal.tenant, exported) };
  }

  /**
   * Imports an exported session as the calling principal's own. The session is tainted if the export says so, and unless
   * this installation signed the export for this tenant or the caller trusts it. Its data are private, unless a signed
   * export says otherwise.
   * @param exported the result of `export`
   * @param id a new id for the session; the exported one by default
   * @throws AppError `VALIDATION_FAILED` with the mistakes and their places, `SESSION_EXISTS`, `INPUT_BLOCKED`;
   *   `FORBIDDEN` without the scope `sessions:trust` for a trusted import, and for unsigned system messages
   */
  import(principal: Principal, exported: unknown, id?: string, options: SessionImport = {}): Promise<SessionRecord> {
    return withLongCalls(() => this.write(principal, exported, id, options));
  }

  private async write(
    principal: Principal,
    exported: unknown,
    id: string | undefined,
    { isTrusted = false, at = '' }: SessionImport,
  ): Promise<SessionRecord> {
    const parsed = parse(exported, at);
    const { session, turns } = parsed;
    const to = id ?? session.id;
    assertSessionId(to, id === undefined ? `${at}session.id` : 'id');
    // The signature is that of the sent form: parsing may write an image in another form.
    const isSigned = await this.signatures.isValid(principal.tenant, exported as SessionExport, parsed.signature);
    assertMayImport(principal, turns, { isSigned, isTrusted });
    const key = { tenant: principal.tenant, id: to };
    const stored = await this.importedTurns.create(turns, at);
    const messages = stored.reduce((sum, turn) => sum + turn.messages.length, 0);
    const about = { owner: principal.id, metadata: session.metadata, now: Date.now() };
    await this.store.commitNew(to, [
      this.store.create(key, {
        ...about,
        turns: stored.length,
        messages,
        ...marksOf(session, { isSigned, isTrusted }),
      }),
      ...stored.flatMap((turn) => this.turns.append(key, turn)),
      ...this.files.imported(key, principal.id, turns, at),
    ]);
    return this.sessions.get(principal, to);
  }
}

function parse(exported: unknown, at: string): SessionExport {
  const parsed = sessionExportSchema.safeParse(exported);
  if (parsed.success) return parsed.data;
  const errors = issueMistakes(parsed.error.issues, exported, at);
  const detail = errors.map(({ field, message }) => `${field}: ${message}`).join('; ');
  throw new AppError('VALIDATION_FAILED', `The session cannot be imported: ${detail}.`, { details: { errors } });
}

function marksOf(
  { is_tainted: isTainted = false, is_private: isPrivate = false }: SessionExport['session'],
  { isSigned, isTrusted }: { readonly isSigned: boolean; readonly isTrusted: boolean },
) {
  return {
    taintedTurn: (isSigned || isTrusted) && !isTainted ? null : 1,
    privateTurn: isSigned && !isPrivate ? null : 1,
  };
}

function hasSystemMessage(turns: SessionExport['turns']): boolean {
  return turns.some(({ messages }) => messages.some(({ role }) => role === 'system'));
}

/** @throws AppError `FORBIDDEN` without the scope for a trusted import, and for unsigned system messages */
function assertMayImport(
  principal: Principal,
  turns: SessionExport['turns'],
  { isSigned, isTrusted }: { readonly isSigned: boolean; readonly isTrusted: boolean },
): void {
  if (isTrusted) assertTrusting(principal, 'an import as trusted');
  if (!isSigned && hasSystemMessage(turns)) assertTrusting(principal, 'a system message in an unsigned import');
}

function assertTrusting(principal: Principal, what: string): void {
  if (hasScope(principal, TRUST)) return;
  throw new AppError('FORBIDDEN', `The session was not imported: ${what} needs the scope "${TRUST}".`, {
    details: { scope: TRUST },
  });
}
