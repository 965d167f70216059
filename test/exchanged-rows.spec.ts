import { afterAll, beforeAll, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import * as fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { AppError } from '../src/errors/index.js';
import { RUN_SEALED_TABLES } from '../src/run/run-record.mapper.js';
import { EvalReportStore } from '../src/run/eval/eval-report.store.js';
import { RunItem } from '../src/run/event/run-item.factory.js';
import { endRun, insertEvents, insertStep } from '../src/run/run-statement.factory.js';
import type { SealedTable, StoredRow } from '../src/security/encryption/index.js';
import { AesGcmCipher } from '../src/security/encryption/aes-gcm-cipher.js';
import { SIGNING_SEALED_TABLES, SigningKeyStore } from '../src/security/encryption/signing-key.store.js';
import { SealedRowStore } from '../src/security/encryption/sealed-row.store.js';
import { SessionStore } from '../src/session/session-store.js';
import { CONVERSATION_SEALED_TABLES } from '../src/session/turn-place.factory.js';
import { TOOL_STATE_SEALED_TABLES } from '../src/tool-state/backend/state-place.factory.js';
import { evalReport } from './support/eval-reports.js';
import { aRun, openDatabase, type OpenDatabase } from './support/run-host.js';
import { sessionsOn } from './support/session-host.js';
import { stateStatements } from './support/sealed-states.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { BY_PRINCIPAL, runJournal } from './support/run-parts.js';

Logger.overrideLogger(false);
const NOW = 1_764_000_000_123;
const TABLES = [
  ...RUN_SEALED_TABLES,
  ...CONVERSATION_SEALED_TABLES,
  ...SIGNING_SEALED_TABLES,
  ...TOOL_STATE_SEALED_TABLES,
];
const cipher = new AesGcmCipher([{ id: 'k', key: randomBytes(32).toString('base64') }], false);

/** One encrypted text and its position. */
interface Cell {
  readonly table: SealedTable;
  readonly row: StoredRow;
  readonly column: string;
  readonly text: string;
}

describeDatabases('encrypted texts', await testServers(), (created, kind) => {
  let opened: OpenDatabase;
  let rows: SealedRowStore;
  let all: Cell[];
  beforeAll(async () => {
    opened = await openDatabase({ DATABASE_URL: created().url });
    rows = new SealedRowStore(opened.database);
    for (const tenant of ['one', 'two']) {
      for (const n of [1, 2]) await record(tenant, n);
    }
    await new SigningKeyStore(opened.database, cipher).open('session-export');
    all = await cells();
  });
  afterAll(() => opened.close());

  /** Records a finished run with a turn; two such runs differ as little as possible. */
  async function record(tenant: string, n: number): Promise<void> {
    const journal = runJournal(opened.database, { cipher });
    const { sessions } = sessionsOn(opened.database, cipher);
    const heads = new SessionStore(opened.database, cipher, BY_PRINCIPAL);
    const principal = { id: 'p', tenant, roles: [] };
    await new EvalReportStore(opened.database, cipher, BY_PRINCIPAL).add(principal, `${tenant}-${n}`, evalReport());
    const { run } = await journal.create(aRun(`${tenant}-${n}`, 's', { principal }), 'running', NOW);
    const event = (at: number) => new RunItem(at, NOW, { type: 'thought', iteration: 1, text: 'same' });
    const turn = { runId: run.id, status: 'completed', messages: [{ role: 'user', content: 'same' }] } as const;
    await journal.commit([
      ...['tool:1:1', 'tool:1:2'].map((name) =>
        insertStep(run, { name, kind: 'tool', subject: 'x', result: '"same"' }, NOW, cipher),
      ),
      ...insertEvents(run, [2, 3].map(event), cipher),
      sessions.beginStatement(principal, 's'),
      heads.setMetadata({ tenant, id: 's' }, { same: 'same' }),
      ...sessions.turnStatements(principal, 's', n - 1, turn),
      ...sessions.summaryStatements(principal, 's', { through: n, text: 'same', tokens: 1 }),
      endRun(run, 'running', 'completed', NOW),
      ...stateStatements(opened.database, cipher, { tenant, session: `${n}`, tool: 'x' }),
    ]);
  }

  async function cells(): Promise<Cell[]> {
    const found: Cell[] = [];
    for (const table of TABLES) {
      for (const head of await rows.heads(table, null, 1000)) {
        const row = (await rows.read(table, head))!;
        const sealed = table.columns.filter(({ name }) => row[name] !== null);
        found.push(...sealed.map(({ name }) => ({ table, row, column: name, text: String(row[name]) })));
      }
    }
    return found;
  }

  async function put({ table, row, column }: Cell, from: string, to: string): Promise<void> {
    await rows.commit([{ ...rows.replace(table, row, { column, from, to }), rows: 1 }]);
  }

  const faultOf = ({ table, row, column, text }: Cell): string | null => {
    try {
      cipher.open(text, table.columns.find(({ name }) => name === column)!.place(row));
      return null;
    } catch (error) {
      return error instanceof AppError ? error.code : 'other';
    }
  };
  const nameOf = ({ table, row, column }: Cell) => [table.name, column, ...table.key.map((key) => row[key])].join(' ');

  it('can be decrypted at their own positions', () => {
    expect(all.map(faultOf)).toEqual(all.map(() => null));
    expect(new Set(all.map(({ table }) => table.name)).size).toBe(TABLES.length);
    expect(all.length).toBeGreaterThan(50);
  });

  it('are all read, with any page size', async () => {
    for (const table of TABLES) {
      const whole = await rows.heads(table, null, 1000);
      for (const size of [1, 2, 3, 7]) {
        const paged: StoredRow[] = [];
        for (let page = await rows.heads(table, null, size); page.length > 0;) {
          paged.push(...page);
          page = await rows.heads(table, page.at(-1)!, size);
        }
        expect(paged).toEqual(whole);
      }
    }
  });

  it('cannot be decrypted after an exchange of any two: in a table, across tables, across tenants', async () => {
    const numbers = fc.uniqueArray(fc.nat(all.length - 1), { minLength: 2, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(numbers, async ([a = 0, b = 0]) => {
        const [one, other] = [all[a]!, all[b]!];
        await put(one, one.text, other.text);
        await put(other, other.text, one.text);
        const broken = (await cells()).filter((cell) => faultOf(cell) !== null);
        expect(broken.map(faultOf)).toEqual(['DATA_TAMPERED', 'DATA_TAMPERED']);
        expect(new Set(broken.map(nameOf))).toEqual(new Set([nameOf(one), nameOf(other)]));
        await put(one, other.text, one.text);
        await put(other, one.text, other.text);
      }),
      { numRuns: kind === 'sqlite' ? 200 : 15 },
    );
    expect((await cells()).map(faultOf)).toEqual(all.map(() => null));
  });
});
