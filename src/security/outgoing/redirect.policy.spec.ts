import { describe, expect, it } from '@jest/globals';
import { redirectedHop } from './redirect.policy.js';

const hop = (url: string, method = 'GET') => ({ url: new URL(url), method, headers: { 'x-own': 'secret' } });

describe('a redirect', () => {
  it('leads from http to https, and never back', () => {
    expect(redirectedHop(hop('http://a.example/'), 301, 'https://a.example/x')).toMatchObject({ headers: {} });
    for (const location of ['http://a.example/x', 'HTTP://b.example', 'http:////b.example']) {
      expect(() => redirectedHop(hop('https://a.example/'), 301, location)).toThrow('from https to http');
    }
    expect(redirectedHop(hop('https://a.example/'), 301, '//b.example')?.url.href).toBe('https://b.example/');
  });

  it.each(['https://a.example:444/', 'https://b.a.example/', 'https://a.example./'])(
    'to %s is to another origin',
    (to) => {
      expect(redirectedHop(hop('https://a.example/'), 307, to)?.headers).toEqual({});
    },
  );

  it.each([200, 300, 304, 305, 306, 404])('is none of status %i', (status) => {
    expect(redirectedHop(hop('https://a.example/'), status, 'https://b.example/')).toBeUndefined();
  });

  it('needs a place', () => {
    expect(() => redirectedHop(hop('https://a.example/'), 302, undefined)).toThrow('does not say where to');
  });
});
