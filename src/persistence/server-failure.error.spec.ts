import { describe, expect, it } from '@jest/globals';
import { toServerFailure, unsuitableServer } from './server-failure.error.js';

const failure = (code: string | undefined, message = 'said the driver') =>
  toServerFailure('PostgreSQL', 'db:5432/x', Object.assign(new Error(message), code && { code }));

describe('toServerFailure', () => {
  it.each([
    ['28P01', 'it refuses the user or the password: correct DATABASE_URL'],
    ['ER_ACCESS_DENIED_ERROR', 'it refuses the user or the password: correct DATABASE_URL'],
    ['3D000', 'it has no database of that name: create it, or correct DATABASE_URL'],
    ['42501', 'the user may not create and change tables there: grant it, or make the user the owner of the database'],
    ['53300', 'it accepts no more connections: raise its limit, or close others'],
    ['ETIMEDOUT', 'it does not answer: check the host and firewalls'],
  ])('names the remedy for %s', (code, reason) => {
    expect(failure(code)).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `The PostgreSQL database db:5432/x cannot be opened: ${reason}.`,
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
