import { describe, expect, it } from 'vitest';
import { assertSameSite } from './caller-origin.policy.js';

const ALLOWED = ['https://app.example'];
const COOKIE = { host: 'shop.example', cookie: 'sid=1' };
const EVIL = { origin: 'https://evil.example' };

const isAdmitted = (headers: Record<string, string>, method = 'POST'): boolean => {
  try {
    assertSameSite({ method, headers }, ALLOWED);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'FORBIDDEN' });
    return false;
  }
};

describe('assertSameSite', () => {
  it.each([
    ['a program', COOKIE],
    ['a page of the same origin', { ...COOKIE, 'sec-fetch-site': 'same-origin', origin: 'https://shop.example' }],
    ['a page of the same host in an old browser', { ...COOKIE, origin: 'https://shop.example' }],
    ['an allowed page', { ...COOKIE, 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }],
    ['the user', { ...COOKIE, 'sec-fetch-site': 'none' }],
    ['a page with a token', { ...COOKIE, ...EVIL, 'sec-fetch-site': 'cross-site', authorization: 'Bearer x' }],
    ['a page without a credential', { host: 'shop.example', ...EVIL, 'sec-fetch-site': 'cross-site' }],
  ])('admits a change by %s', (_sender, headers) => {
    expect(isAdmitted(headers)).toBe(true);
  });

  it.each([
    ['a page of another site', { ...COOKIE, ...EVIL, 'sec-fetch-site': 'cross-site' }],
    ['a page of another site in an old browser', { ...COOKIE, ...EVIL }],
    ['a page of another origin of the site', { ...COOKIE, 'sec-fetch-site': 'same-site' }],
    ['a page without an origin', { ...COOKIE, origin: 'null' }],
    ['a page with a stored password', { host: 'shop.example', ...EVIL, authorization: 'Basic YTpi' }],
  ])('refuses a change by %s', (_sender, headers) => {
    expect(isAdmitted(headers)).toBe(false);
    expect(isAdmitted(headers, 'GET')).toBe(true);
  });
});
