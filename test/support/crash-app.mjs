// A server in a process of its own, to be killed: the compiled application with tools that record each execution.
// EFFECTS_FILE gets a line for every execution; BLOCK_AT names the one ("read_step 3") that never ends, DIE_AT
// the one that kills the process, after DIE_AFTER_MS; "first" is the first execution of each step. AGENTS are
// definitions as JSON, instead of the default agent. LOOP is the version of the loop of new runs, LOOPS are those that
// it replays ("1,2"). PADDING is the number of words after a result.
import { appendFileSync, readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { Inject, Injectable, Scope, UseGuards } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { createApp } from '../../dist/server/bootstrap.js';
import { Tool, withImages } from '../../dist/index.js';
import { changeLoop } from './release.mjs';

const {
  EFFECTS_FILE,
  BLOCK_AT,
  DIE_AT,
  DIE_AFTER_MS = '0',
  AGENTS,
  LOOP,
  LOOPS,
  PADDING = '0',
  PORT = '0',
} = process.env;

/** An image of one dot. */
const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function isFirst(mark) {
  return !readFileSync(EFFECTS_FILE, { encoding: 'utf8', flag: 'a+' }).includes(mark);
}

/** The body of every step: it records its execution, then answers or blocks. */
async function perform(tool, { step }) {
  const mark = `${tool} ${step}`;
  const isFatal = mark === DIE_AT || (DIE_AT === 'first' && isFirst(mark));
  appendFileSync(EFFECTS_FILE, `${mark}\n`);
  process.stdout.write(`performing ${mark}\n`);
  if (isFatal) {
    if (DIE_AFTER_MS !== '0') await setTimeout(Number(DIE_AFTER_MS));
    process.kill(process.pid, 'SIGKILL');
  }
  if (mark === BLOCK_AT) await new Promise(() => undefined);
  return `did step ${step}${' nest'.repeat(Number(PADDING))}`;
}

class StepTools {
  read_step(input) {
    return perform('read_step', input);
  }
  idempotent_step(input) {
    return perform('idempotent_step', input);
  }
  once_step(input) {
    return perform('once_step', input);
  }
  guarded_step(input) {
    return perform('guarded_step', input);
  }
  approved_step(input) {
    return perform('approved_step', input);
  }
  async filed_step(input) {
    return { did: await perform('filed_step', input), data: Buffer.alloc(900, 0xff), picture: PICTURE };
  }
  async pictured_step(input) {
    return withImages(await perform('pictured_step', input), [PICTURE]);
  }
}

/** Created for each call, with the call as its request: it records its execution too. */
class TenantGuard {
  constructor(request) {
    this.request = request;
  }
  canActivate() {
    const { tenant, principal, tool, arguments: input } = this.request;
    appendFileSync(EFFECTS_FILE, `guard ${tenant} ${principal.id} ${tool} ${input.step}\n`);
    return true;
  }
}
Inject(REQUEST)(TenantGuard, undefined, 0);
Injectable({ scope: Scope.REQUEST })(TenantGuard);
UseGuards(TenantGuard)(
  StepTools.prototype,
  'guarded_step',
  Object.getOwnPropertyDescriptor(StepTools.prototype, 'guarded_step'),
);

const READING = { effect: 'read' };
const HANDLING = { approved: { approval: 'always' }, guarded: READING, pictured: READING, filed: READING };
const input = {
  type: 'object',
  properties: { step: { type: 'integer' } },
  required: ['step'],
  additionalProperties: false,
};
// Plain JavaScript: the decorator is called as a function, so that no build step is needed.
for (const kind of ['read', 'idempotent', 'once', 'guarded', 'approved', 'pictured', 'filed']) {
  const name = `${kind}_step`;
  const descriptor = Object.getOwnPropertyDescriptor(StepTools.prototype, name);
  const handling = HANDLING[kind] ?? { effect: kind };
  Tool({ name, description: `Does a step (${kind}).`, ...handling, input })(StepTools.prototype, name, descriptor);
}

const app = await createApp({ tools: [StepTools], ...(AGENTS && { agents: JSON.parse(AGENTS) }) });
if (LOOP) {
  await app.init();
  changeLoop(app, Number(LOOP), LOOPS.split(',').map(Number));
}
await app.listen(Number(PORT), '127.0.0.1');
// Speeds up the next start; a killed process would not write it.
flushCompileCache();
process.stdout.write(`ready ${await app.getUrl()}\n`);
