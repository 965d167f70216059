// Compares the state of the process before Jackdaw is imported with the states after its import, start and close. Prints the
// differences as JSON.
import { fileURLToPath } from 'node:url';

/** The members of an object, with its accessors; without private fields of Node. */
function membersOf(object, name) {
  return Reflect.ownKeys(object)
    .filter((key) => !/^_(?!_)/.test(String(key)))
    .map((key) => [`${name}.${String(key)}`, Object.values(Object.getOwnPropertyDescriptor(object, key))]);
}

const isObject = (value) => Object(value) === value && value !== globalThis;
const BUILT_INS = new Map([
  ...Object.getOwnPropertyNames(globalThis)
    .map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name).value])
    .filter(([, value]) => isObject(value)),
  ...Object.entries({ process, Buffer }),
]);
const EMITTERS = Object.entries({ process, stdin: process.stdin, stdout: process.stdout, stderr: process.stderr });

/** Every value on which other code of the process may depend, by its name. */
function snapshot(nest = {}) {
  const all = membersOf(globalThis, 'globalThis');
  for (const [name, value] of BUILT_INS) {
    all.push(...membersOf(value, name));
    if (isObject(value.prototype)) all.push(...membersOf(value.prototype, `${name}.prototype`));
  }
  all.push(...Object.entries(process.env).map(([name, value]) => [`process.env.${name}`, [value]]));
  for (const [name, emitter] of EMITTERS) {
    all.push([`${name}.write`, [emitter.write]]);
    const events = emitter.eventNames().filter((event) => typeof event === 'string');
    for (const event of events) all.push([`${name}.on(${event})`, emitter.rawListeners(event)]);
  }
  for (const [name, object] of Object.entries(nest)) all.push(...membersOf(object, name));
  return new Map([...all, ['process.cwd()', [process.cwd()]], ['process.exitCode', [process.exitCode]]]);
}

const isSame = (one, other) => one.length === other.length && one.every((value, at) => Object.is(value, other[at]));

function differences(before, after) {
  const common = [...before.keys()].filter((name) => after.has(name));
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    changed: common.filter((name) => !isSame(before.get(name), after.get(name))),
    removed: [...before.keys()].filter((name) => !after.has(name)),
  };
}

// Node creates these at their first use.
void process.allowedNodeEnvironmentFlags;
await fetch('http://127.0.0.1:1').catch(() => undefined);
const before = snapshot();
const { createAgent } = await import('../../dist/index.js');
const imported = snapshot();
// All Nest applications of the process share its logger and its factory.
const { Logger } = await import('@nestjs/common');
const { NestFactory } = await import('@nestjs/core');
const nest = { Logger, NestFactory };
const hosted = snapshot(nest);
const program = fileURLToPath(new URL('mcp/scripted-server.mjs', import.meta.url));
const stdio = { command: process.execPath, args: [program] };
const env = { LLM_PROVIDER: 'offline' };
const agent = await createAgent({
  config: env,
  builtinTools: true,
  mcpServers: [{ name: 'local', enabled: true, type: 'stdio', stdio }],
  mcp: { enabled: true, name: 'local' },
});
await agent.chat('What is 6*7?');
await createAgent({ config: { ...env, PORT: 'x' }, logger: false }).catch(() => undefined);
const started = snapshot(nest);
new Logger('Host').log('A line of the host');
await agent.close();
const closed = snapshot(nest);
const result = {
  imported: differences(before, imported),
  started: differences(hosted, started),
  closed: differences(hosted, closed),
};
process.stdout.write(`\n${JSON.stringify(result)}`);
