import { afterAll, describe, expect, it } from 'vitest';
import { releaseScriptThreads, runScript, type ScriptOutcome } from './script-thread.js';

afterAll(releaseScriptThreads);

const LARGE = '"x".repeat(600_000)';

/** Ends a script: with a failure, or with a value that shows that the attack had no effect. */
type Expected = RegExp | { readonly value: unknown };

const UNDEFINED: Expected = { value: 'undefined' };
/** By its limit of work; on a slow machine by that of time. */
const WORK = /did more than 50000000 operations|took more than 5000 ms/;
/** By its limit of work, of memory or of time, whichever the machine reaches first. */
const ENDED = /operations|out of memory|threw null|nothing resolves|took more than 5000 ms/;
const MEMORY = /out of memory|too long|larger than|Invalid array length|took more than 5000 ms/;

const SCRIPTS: readonly (readonly [what: string, script: string, expected: Expected])[] = [
  ['an endless loop', 'while (true) {}', WORK],
  ['an endless loop after a wait', 'await null; for (;;);', WORK],
  ['a loop that catches its own interruption', 'for (;;) { try { for (;;); } catch {} finally { continue } }', WORK],
  ['a recursion of promises', 'const f = () => Promise.resolve().then(f); return f()', ENDED],
  ['an async recursion', 'const f = async () => { await null; return f() }; return f()', ENDED],
  [
    'a generator without an end',
    'function* g() { for (;;) yield 1 } return [...g()].length',
    /operations|memory|5000 ms/,
  ],
  ['an endless getter', 'return { get x() { for (;;); } }', WORK],
  ['an endless toJSON', 'return { toJSON() { for (;;); } }', WORK],
  ['an endless proxy', 'return new Proxy({}, { ownKeys() { for (;;); } })', WORK],
  ['a catastrophic pattern', 'return /^(a+)+$/.test("a".repeat(40) + "!")', ENDED],
  ['an endless sort', 'return [1, 2].sort(() => { for (;;); })', WORK],
  ['a recursion', 'const f = () => f() + 1; return f()', /stack overflow/],
  ['a recursion of getters', 'const o = { get x() { return o.x } }; return o.x', /stack overflow/],
  ['a deep JSON', 'return JSON.parse("[".repeat(100_000) + "]".repeat(100_000))', /stack overflow|operations/],
  ['a doubled string', 'let s = "x"; for (;;) s += s', MEMORY],
  ['a huge repetition', 'return "x".repeat(2 ** 29).length', MEMORY],
  ['a huge array', 'return new Array(2 ** 31).fill(0)', MEMORY],
  ['a huge buffer', 'return new Uint8Array(1e9).length', MEMORY],
  ['many buffers', 'const all = []; for (;;) all.push(new ArrayBuffer(1_000_000))', MEMORY],
  ['a huge result', `return [${LARGE}, ${LARGE}]`, /larger than 1000000 characters/],
  ['huge arguments', `return tools.echo({ text: ${LARGE} + ${LARGE} })`, /larger than 1000000 characters/],
  ['too many calls', 'for (;;) await tools.echo({})', /200 calls at most/],
  ['too many parallel calls', 'return Promise.all(Array.from({ length: 500 }, () => tools.echo({})))', /200 calls/],
  ['a wait for nothing', 'await new Promise(() => {})', /nothing resolves/],
  ['a result that refers to itself', 'const o = {}; o.o = o; return o', /circular/],
  ['a big integer', 'return 10n', /BigInt/],
  ['a thrown null', 'throw null', /threw null/],
  ['an error with hostile fields', 'throw { get message() { for (;;); } }', /threw|operations|Error/],
  ['a replaced Promise', 'Promise.prototype.then = () => {}; return await tools.echo({ a: 1 })', { value: { a: 1 } }],
  [
    'replaced JSON',
    'JSON.stringify = () => "9"; JSON.parse = () => 8; return tools.echo({ a: 1 })',
    { value: { a: 1 } },
  ],
  ['a polluted prototype', 'Object.prototype.x = 1; return (await tools.echo({ a: 1 })).x', { value: 1 }],
  ['replaced tools', 'try { tools.echo = 1 } catch {} return tools.echo({ a: 1 })', { value: { a: 1 } }],
  ['the constructor of functions', 'return typeof (() => {}).constructor("return process")', { value: 'function' }],
  ['a process', 'try { return (() => {}).constructor("return typeof process")() } catch { return 0 }', UNDEFINED],
  ['the end of its function', '}); (async () => { return typeof process', UNDEFINED],
  ['an import', 'return import("node:fs")', /could not load module/],
  ['a clock', 'return typeof Date + typeof performance', { value: 'undefinedundefined' }],
  ['random numbers', 'return typeof Math.random + typeof crypto', { value: 'undefinedundefined' }],
  ['a network', 'return typeof fetch + typeof WebSocket', { value: 'undefinedundefined' }],
  ['timers', 'return typeof setTimeout + typeof setInterval', { value: 'undefinedundefined' }],
  ['a blocking wait', 'return typeof Atomics', UNDEFINED],
  [
    'the globals of its host',
    'return [typeof call, typeof names, typeof postMessage].join()',
    { value: 'undefined,undefined,undefined' },
  ],
];

const echo = (script: string): Promise<ScriptOutcome> =>
  runScript({ script, tools: ['echo'] }, new AbortController().signal, async (calls) =>
    calls.map(({ arguments: value }) => ({ value })),
  );

describe('a hostile script', () => {
  it.each(SCRIPTS)('with %s ends, and changes nothing', async (_, script, expected) => {
    const outcome = await echo(script);
    const shown =
      outcome.kind === 'failed' ? outcome.message : `returned ${String('value' in outcome && outcome.value)}`;
    expect(shown).toMatch(expected instanceof RegExp ? expected : `returned ${JSON.stringify(expected.value)}`);
    expect(JSON.stringify(outcome).length).toBeLessThan(800);
    // The next script finds the same world.
    expect(await echo('return Object.keys(await tools.echo({ a: 1 })).join() + typeof JSON.parse("1")')).toEqual({
      kind: 'returned',
      value: '"anumber"',
    });
  });

  it('does not occupy the event loop', async () => {
    const events: string[] = [];
    const script = echo('while (true) {}').then(() => events.push('script'));
    setImmediate(() => events.push('immediate'));
    await script;
    expect(events).toEqual(['immediate', 'script']);
  });

  it('ends when its run is aborted', async () => {
    const stop = new AbortController();
    const script = runScript({ script: 'for (;;);', tools: [] }, stop.signal, async () => null);
    setImmediate(() => stop.abort(new Error('cancelled')));
    await expect(script).rejects.toThrow('cancelled');
  });
});

describe('scripts at the same time', () => {
  it('do not disturb each other', async () => {
    const all = Array.from({ length: 8 }, (_, n) =>
      echo(n % 2 === 0 ? 'while (true) {}' : `return (await tools.echo({ n: ${n} })).n`),
    );
    const outcomes = await Promise.all(all);
    expect(outcomes.filter(({ kind }) => kind === 'failed')).toHaveLength(4);
    expect(outcomes.filter(({ kind }) => kind === 'returned')).toEqual(
      [1, 3, 5, 7].map((n) => ({ kind: 'returned', value: String(n) })),
    );
  });
});
