import { describe, expect, it } from 'vitest';
import { toServerFailure, unsuitableServer } from './server-failure.error.js';

const failure = (code: string | undefined, message = 'said the driver') =>
  toServerFailure('PostgreSQL', 'db:5432/x', Object.assign(new Error(message), code && { code }));

describe('toServerFailure', () => {
  it.each([
    ['28P01', 'it refuses the user or the password: correct DATABASE_URL'],
    ['ER_ACCESS_DENIED_ERROR', 'it refuses the user or the password: correct DATABASE_URL'],
    ['ER_ACCESS_DENIED_NO_PASSWORD_ERROR', 'it refuses the user or the password: correct DATABASE_URL'],
    ['3D000', 'it has no database of that name: create it, or correct DATABASE_URL'],
    ['42501', 'the user may not create and change tables there: grant it, or make the user the owner of the database'],
    ['ETIMEDOUT', 'it does not answer: check the host and firewalls'],
  ])('names the remedy for %s', (code, reason) => {
    expect(failure(code)).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `The PostgreSQL database db:5432/x cannot be opened: ${reason}.`,
    });
  });

  it.each([
    ['53300', 'sorry, too many clients already', 'max_connections'],
    ['53300', 'too many connections for role "x"', 'the CONNECTION LIMIT of the role'],
    ['53300', 'too many connections for database "x"', 'the CONNECTION LIMIT of the database'],
    ['08P01', 'no more connections allowed (max_client_conn)', 'max_client_conn of pgbouncer'],
    ['ER_CON_COUNT_ERROR', 'Too many connections', 'max_connections'],
    ['ER_TOO_MANY_USER_CONNECTIONS', "User x already has more than 'max_user_connections'", 'max_user_connections'],
  ])('names the limit of connections for %s: %s', (code, message, limit) => {
    expect(failure(code, message)).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(
        `it accepts no more connections, as ${limit} is reached: raise it, or close others`,
      ),
    });
  });

  it.each(['options', 'statement_timeout'])('names the parameter %s that a pooler refuses', (parameter) => {
    expect(failure('08P01', `unsupported startup parameter: ${parameter}`)).toMatchObject({
      message: expect.stringContaining(`its pooler refuses the parameter ${parameter}: remove it from DATABASE_URL`),
    });
  });

  it.each(['self-signed certificate', 'The server does not support SSL connections'])(
    'contains the driver’s message: %s',
    (message) => {
      expect(failure(undefined, message)).toMatchObject({ message: expect.stringContaining(message) });
    },
  );

  it('returns an error of our own unchanged', () => {
    const mistake = new Error('column "x" does not exist');
    expect(toServerFailure('PostgreSQL', 'db:5432/x', mistake)).toBe(mistake);
    const known = unsuitableServer('MariaDB', 'db:3306/x', 'it is 8.4.3');
    expect(toServerFailure('MariaDB', 'db:3306/x', known)).toBe(known);
    expect(known.message).toBe('The MariaDB database db:3306/x cannot be opened: it is 8.4.3.');
  });
});
