// The cost of Nest's pipeline per tool call: a method called directly, through the pipeline, behind a guard, and on a
// request-scoped provider with a request-scoped guard.       npm run build && node bench/tools.mjs [--calls 20000] [--rounds 9]
import { parseArgs } from 'node:util';
import { Inject, Injectable, Module, Scope, UseGuards } from '@nestjs/common';
import { NestFactory, REQUEST } from '@nestjs/core';
import { AppConfigModule } from '../dist/config/index.js';
import { Tool, ToolRegistry, ToolRequest } from '../dist/index.js';
import { ToolModule } from '../dist/tool/index.js';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '20000' }, rounds: { type: 'string', default: '9' } },
});

class OpenGuard {
  canActivate(context) {
    return context.getType() === 'tool';
  }
}
class TenantGuard {
  constructor(request) {
    this.request = request;
  }
  canActivate() {
    return this.request.tenant === 't';
  }
}
Inject(REQUEST)(TenantGuard, undefined, 0);
Injectable({ scope: Scope.REQUEST })(TenantGuard);

class StaticTools {
  plain({ n }) {
    return n;
  }
  guarded({ n }) {
    return n;
  }
}
class ScopedTools {
  scoped({ n }) {
    return n;
  }
}
Injectable({ scope: Scope.REQUEST })(ScopedTools);

const input = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
function declare(type, method, guard) {
  const descriptor = Object.getOwnPropertyDescriptor(type.prototype, method);
  if (guard) UseGuards(guard)(type.prototype, method, descriptor);
  Tool({ description: 'Gives its number.', effect: 'read', input })(type.prototype, method, descriptor);
}
declare(StaticTools, 'plain');
declare(StaticTools, 'guarded', OpenGuard);
declare(ScopedTools, 'scoped', TenantGuard);

class BenchModule {}
Module({ imports: [AppConfigModule.forRoot({}), ToolModule], providers: [StaticTools, ScopedTools] })(BenchModule);

const app = await NestFactory.createApplicationContext(BenchModule, { logger: false });
const registry = app.get(ToolRegistry);
const site = {
  principal: { id: 'p', tenant: 't', roles: [] },
  agent: null,
  sessionId: null,
  runId: 'r',
  callId: 'c',
  key: 'k',
  signal: new AbortController().signal,
};
const bare = new StaticTools();
const direct = { definition: { name: 'bare' }, invoke: async (args) => bare.plain(args) };
const tools = { bare: direct, ...Object.fromEntries(registry.list().map((tool) => [tool.definition.name, tool])) };

/** CPU of one call, in µs. */
async function cost(tool, calls) {
  const before = process.cpuUsage();
  for (let n = 0; n < calls; n++) await tool.invoke({ n }, new ToolRequest({ tool, input: { n } }, site));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

const least = {};
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [name, tool] of Object.entries(tools)) {
    const taken = await cost(tool, Number(values.calls) / (name === 'scoped' ? 10 : 1));
    least[name] = Math.min(least[name] ?? Infinity, taken);
  }
}
console.log(`Node ${process.version}, µs of CPU per call, the lowest of ${values.rounds} rounds\n`);
const rows = [];
for (const [name, taken] of Object.entries(least)) {
  console.log(
    `${name.padEnd(10)}${taken.toFixed(2).padStart(8)}   ${(taken - least.bare).toFixed(2).padStart(8)} over bare`,
  );
  if (name !== 'bare') {
    const result = `${(taken - least.bare).toFixed(2)} µs more`;
    rows.push({ name: `a call of the tool "${name}", CPU`, result, reference: 'a bare method' });
  }
}
record('tools', rows);
await app.close();
