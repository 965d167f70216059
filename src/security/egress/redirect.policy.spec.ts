import { describe, expect, it } from 'vitest';
import { redirectedHop } from './redirect.policy.js';

const hop = (url: string, method = 'GET') => ({
  url: new URL(url),
  method,
  headers: { 'x-own': 'secret' },
  secrets: [],
  isForeign: false,
});

describe('a redirect', () => {
  it('is followed from http to https, and never back', () => {
    expect(redirectedHop(hop('http://a.example/'), 301, 'https://a.example/x')).toMatchObject({ headers: {} });
    for (const location of ['http://a.example/x', 'HTTP://b.example', 'http:////b.example']) {
      expect(() => redirectedHop(hop('https://a.example/'), 301, location)).toThrow('from https to http');
    }
    expect(redirectedHop(hop('https://a.example/'), 301, '//b.example')?.url.href).toBe('https://b.example/');
  });

  it.each(['https://a.example:444/', 'https://b.a.example/', 'https://a.example./'])(
    'leads to a different origin: %s',
    (to) => {
      expect(redirectedHop(hop('https://a.example/'), 307, to)?.headers).toEqual({});
    },
  );

  it.each([
    'https://b.example/?key=Own-Secret-1',
    'https://own-secret-1.b.example/',
    'https://b.example/to/%4fwn-Secret-1',
    'https://b.example/?to=%2F%3Fkey%3D%254fwn-Secret-1',
    'mailto:Own-Secret-1',
  ])('is refused for a secret in its URL, which the message omits: %s', (to) => {
    const given = { ...hop('https://a.example/'), secrets: ['Own-Secret-1'] };
    const what = 'a.example redirects to another origin with a secret of the call in the URL, which is refused';
    expect(() => redirectedHop(given, 302, to)).toThrow(
      `${what}; if the secret belongs there, call that URL directly.`,
    );
  });

  it('may contain the secret in the URL if it leads to its own origin', () => {
    const given = { ...hop('https://a.example/'), secrets: ['Own-Secret-1'] };
    expect(redirectedHop(given, 302, '/?key=Own-Secret-1')?.url.search).toBe('?key=Own-Secret-1');
  });

  it.each([200, 300, 304, 305, 306, 404])('is not followed for status %i', (status) => {
    expect(redirectedHop(hop('https://a.example/'), status, 'https://b.example/')).toBeUndefined();
  });

  it('requires a Location header', () => {
    expect(() => redirectedHop(hop('https://a.example/'), 302, undefined)).toThrow('without a Location header');
  });
});
