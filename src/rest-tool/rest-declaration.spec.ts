import { describe, expect, it } from 'vitest';
import { RestWorld } from '../../test/support/rest-world.js';
import { Parameter } from '../tool/input/index.js';

const world = RestWorld.prepare();

const ID = Parameter.string('id', '', true);
const keyIn = (name: string) => ({ type: 'apiKey', in: 'header', name, key: 'CRM_TOKEN' });

describe('the declaration of a REST tool', () => {
  it.each([
    [{ url: 'ftp://host/x' }, 'its url is not https://host/path'],
    [{ url: '/relative' }, 'its url is not https://host/path'],
    [{ url: 'https:///x' }, 'its url is not https://host/path'],
    [{ url: 'https://{id}.example/x', parameters: [ID] }, 'a placeholder or a user name before its path'],
    [{ url: 'https://a.example:{id}/x', parameters: [ID] }, 'a placeholder or a user name before its path'],
    [{ url: 'https://user@a.example/x' }, 'a placeholder or a user name before its path'],
    [{ url: 'https://a.example/x?y={id}', parameters: [ID] }, 'has a placeholder in its query: use `query`'],
    [{ url: 'https://a.example/x#y' }, 'has a fragment'],
    [{ url: 'https://a.example/../x' }, 'has a segment "." or ".."'],
    [{ url: 'https://a.example/%2e%2E/x' }, 'has a segment "." or ".."'],
    [{ url: 'https://a.example/{id*}', parameters: [ID] }, 'has a {name*} in its path'],
    [{ url: 'https://256.256.256.256/' }, 'has an invalid host'],
    [{ url: 'https://a.example/{id', parameters: [ID] }, 'has "{", which is not a placeholder'],
    [{ url: 'https://a.example/{ id }', parameters: [ID] }, 'has "{ id }", which is not a placeholder'],
    [{ url: 'https://a.example/{id}' }, 'it uses {id}, which is not among its parameters'],
    [
      { url: 'https://a.example/{id}', parameters: [Parameter.string('id')] },
      'its url needs {id}, which is not required and has no default',
    ],
    [{ url: 'https://a.example/\ud800' }, '"\\ud800" contains a lone surrogate'],
    [{ query: { a: '\ud800' } }, '"\\ud800" contains a lone surrogate'],
    [{ parameters: [ID], query: {} }, 'its parameter "id" is not used'],
    [{ body: {} }, 'it has a body, which GET cannot have'],
    [{ headers: { Authorization: 'Bearer x' } }, 'its headers contain authorization: use `auth`'],
    [{ headers: { Host: 'x' } }, 'its headers contain host, which a tool cannot set'],
    [{ headers: { 'X-A': 'grüße' } }, 'its header "x-a" is "grüße", which a header cannot contain: use plain ASCII'],
    [
      { headers: { 'x-a': 'a\r\nb: {id}' }, parameters: [ID] },
      'its header "x-a" is "a\\r\\nb: {id}", which a header cannot',
    ],
    [{ headers: { 'a b': 'x' } }, 'its header "a b" is not a valid header name'],
    [{ result: 'a' }, '"a" is not a JSON pointer: a pointer begins with /'],
    [{ result: '/~2' }, '"/~2" is not a JSON pointer: a pointer writes ~ as ~0'],
    [{ auth: { type: 'bearer', token: 'OTHER_SECRET' } }, 'its auth names OTHER_SECRET, which TOOL_SECRETS does not'],
    [{ auth: { type: 'bearer', token: 'DATABASE_URL' } }, 'its auth names DATABASE_URL, which TOOL_SECRETS does not'],
    [
      {
        auth: [
          { type: 'bearer', token: 'CRM_TOKEN' },
          { type: 'basic', username: 'CRM_USER' },
        ],
      },
      'its auth has two entries for one header',
    ],
    [{ auth: keyIn('Host') }, 'its auth names the header "Host", which is reserved: a tool cannot set it'],
    [
      { auth: keyIn('Content-Length') },
      'its auth names the header "Content-Length", which is reserved: a tool cannot set it',
    ],
    [{ auth: keyIn('CONNECTION') }, 'its auth names the header "CONNECTION", which is reserved: a tool cannot set it'],
    [{ auth: keyIn('transfer-encoding') }, 'header "transfer-encoding", which is reserved: a tool cannot set it'],
    [{ auth: keyIn('Cookie') }, 'its auth names the header "Cookie", which is reserved: a tool cannot set it'],
    [
      { auth: keyIn('Content-Type') },
      'its auth names the header "Content-Type", which is reserved: a tool cannot set it',
    ],
    [{ auth: keyIn('idempotency-key') }, 'header "idempotency-key", which is reserved: a tool cannot set it'],
    [{ auth: keyIn('x key') }, 'its auth names the header "x key", which is not a valid header name'],
    [{ auth: keyIn('x-key:') }, 'its auth names the header "x-key:", which is not a valid header name'],
    [{ auth: keyIn('x-a\r\nx-b') }, 'which is not a valid header name'],
    [{ auth: { type: 'basic' } }, 'its auth.user: give the user name as `user`, or as `username` the name'],
    [{ auth: { type: 'basic', user: 'ann', username: 'CRM_USER' } }, 'its auth.user: give the user name as `user`, or'],
    [{ auth: { type: 'basic', user: 'ann', password: 'ann' } }, 'its auth names ann, which TOOL_SECRETS does not'],
    [{ auth: { type: 'basic', user: 'a:b' } }, 'its auth.user: a user name has no colon and no control characters'],
    [{ auth: { type: 'basic', user: '\ud800' } }, 'its auth.user: a user name has no colon'],
    [{ auth: { type: 'basic', user: '' } }, 'its auth.user: '],
    [{ auth: { type: 'bearer' } }, 'its auth.token: '],
    [{ auth: { type: 'none' } }, 'its auth'],
    [{ method: 'TRACE' }, 'its method: '],
    [{ timeout: 5 }, 'unrecognized key: "timeout"'],
    [{ retries: 2, effect: 'once' }, 'it has retries, but calls with the effect "once" are never repeated'],
    [{ retries: 2, method: 'POST' }, 'it has retries, but calls with the effect "once" are never repeated'],
    [{ approval: 'perhaps' }, 'its approval is "perhaps"'],
    [{ parameters: { type: 'string' } }, 'its input does not describe an object'],
    [{ name: 'finish' }, 'the name "finish" is reserved'],
  ])('%j is refused', (more, fault) => {
    expect(() => world.declare(more as never)).toThrow(fault);
    expect(world.tools.list()).toEqual([]);
  });

  it('is rejected with its source and all its mistakes at once', () => {
    const declaration = {
      name: 'a b',
      description: ' ',
      url: 'https://x.example/{id}',
      result: 'x',
      headers: { te: 'x' },
    };
    expect(() => world.registry.register(declaration, 'file.json: tools[2]')).toThrow(
      /^file\.json: tools\[2\]: .*"a b".*no description.*headers contain te.*not a JSON pointer/s,
    );
  });
});
