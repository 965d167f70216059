import { describe, expect, it } from 'vitest';
import { AppError } from '../errors/index.js';
import { NoAnswerError, NotSentError, storageFaultOf, storageUnavailable } from './storage-fault.policy.js';

const coded = (fields: object) => Object.assign(new Error('failed'), fields);
const postgres = (code: string) => coded({ code, severity: 'ERROR' });
const mariadb = (errno: number, code: string) => coded({ errno, code });

describe('a fault of the database', () => {
  it.each([
    ['a locked file', coded({ code: 'SQLITE_BUSY' })],
    ['a full disk', coded({ code: 'SQLITE_FULL' })],
    ['a failed disk', coded({ code: 'SQLITE_IOERR_WRITE' })],
    ['a read-only file', coded({ code: 'SQLITE_READONLY_DBMOVED' })],
    ['a refused connection', coded({ code: 'ECONNREFUSED', errno: -111 })],
    ['too many connections of PostgreSQL', postgres('53300')],
    ['a stopping PostgreSQL', postgres('57P01')],
    ['a lost connection of PostgreSQL', postgres('08006')],
    ['a read-only PostgreSQL', postgres('25006')],
    ['too many connections of MariaDB', mariadb(1040, 'ER_CON_COUNT_ERROR')],
    ['a read-only MariaDB', mariadb(1290, 'ER_OPTION_PREVENTS_STATEMENT')],
    ['a lost connection of MariaDB', coded({ code: 'PROTOCOL_CONNECTION_LOST' })],
    ['no answer', new NoAnswerError()],
    ['an error that TypeORM wraps', coded({ driverError: postgres('57P03') })],
  ])('is recognised by the code of the driver: %s', (_name, error) => {
    expect(storageFaultOf(error)).toBeDefined();
  });

  it.each([
    ['a violated key of SQLite', coded({ code: 'SQLITE_CONSTRAINT_UNIQUE' })],
    ['a wrong statement of PostgreSQL', postgres('42601')],
    ['a violated key of MariaDB', mariadb(1062, 'ER_DUP_ENTRY')],
    ['a wrong argument', coded({ code: 'ERR_INVALID_ARG_TYPE' })],
    ['an error of Jackdaw', new AppError('DATABASE_LOCKED', 'locked')],
    ['an error without a code', new Error('failed')],
  ])('is no other error: %s', (_name, error) => {
    expect(storageFaultOf(error)).toBeUndefined();
  });

  it('leaves the outcome of a write unknown only if the write was sent', () => {
    const lost = coded({ code: 'ECONNRESET' });
    expect(storageFaultOf(lost)).toMatchObject({ isOfConnection: true });
    expect(storageFaultOf(new NotSentError(lost))).toMatchObject({ isOfConnection: false });
  });

  it('lets clients repeat a request, at different times, only if nothing can be stored', () => {
    expect(storageUnavailable(new Error(), true)).toMatchObject({
      isRetryable: false,
      details: { is_retryable: false },
    });
    const delays = Array.from({ length: 50 }, () =>
      Number(storageUnavailable(new Error()).details?.['retry_after_ms']),
    );
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(3_000);
    expect(new Set(delays).size).toBeGreaterThan(10);
  });
});
