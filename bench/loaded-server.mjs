// For measurements under load: a server on one core, and a fake provider in the generator's process on another one.
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export const HOST = '127.0.0.1';
const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
/** Processes that this one ends with itself. */
const children = new Set();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
const REPLY = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 0,
  model: 'fake',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** A provider that answers after `ms`, or as `fault` says: `{ status, headers? }`, or null for a normal answer. */
export class Provider {
  ms = 0;
  calls = 0;
  /** Called for each request. */
  fault = () => null;
  #server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    incoming.resume().on('end', () => {
      this.calls++;
      const fault = this.fault();
      setTimeout(() => {
        response.writeHead(fault?.status ?? 200, { 'content-type': 'application/json', ...fault?.headers });
        response.end(fault ? '{"error":{"message":"The server is overloaded."}}' : REPLY);
      }, this.ms);
    });
  });

  async start() {
    await new Promise((resolve) => this.#server.listen(0, HOST, resolve));
    return this;
  }

  get port() {
    return this.#server.address().port;
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/**
 * Starts a server that uses the provider, and waits until it listens.
 * @param command program and arguments
 * @returns the process, its port, its data folder and its log so far
 */
export async function launch([program, ...args], provider, env) {
  const log = join(mkdtempSync(join(folder, 'log-')), 'log');
  const dataDir = mkdtempSync(join(folder, 'data-'));
  const child = spawn(program, args, {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATA_DIR: dataDir,
      LLM_PROVIDER: 'openai-compatible',
      LLM_BASE_URL: `http://${HOST}:${provider.port}/v1`,
      LLM_MODEL: 'fake',
      LLM_API_KEY: 'key',
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
      ...env,
    },
    // A file: a pipe would block the server while the generator is busy.
    stdio: ['ignore', openSync(log, 'w'), 'inherit'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  for (;;) {
    const text = readFileSync(log, 'utf8');
    const found = /Jackdaw serves http:\/\/[^:"]+:(\d+)/.exec(text);
    if (found) return { child, port: Number(found[1]), dataDir, text };
    if (child.exitCode !== null) throw new Error(`The server ended before it listened: ${text}`);
    await pause(50);
  }
}

/**
 * Starts `dist` of a folder on the first core.
 * @returns its ports, its process id, its data folder, and a function that ends it
 */
export async function startServer(provider, env, root = '.') {
  const command = ['taskset', '-c', '0', process.execPath, join(root, 'dist/main.js')];
  const { child, port, dataDir, text } = await launch(command, provider, { HEALTH_PORT: '0', ...env });
  // Absent in an older checkout.
  const healthPort = Number(/Health checks at port (\d+)/.exec(text)?.[1] ?? port);
  const end = () => new Promise((resolve) => child.once('exit', resolve).kill('SIGTERM') && undefined);
  return { port, healthPort, pid: child.pid, dataDir, end };
}

/** CPU time of a process with its threads, in ms. */
export function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** A value of a process in MB, such as `VmRSS`, or `VmHWM` for the largest one. */
export function memoryOf(pid, name) {
  const [, kilobytes] = new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) / 1024;
}

const BODY = JSON.stringify({ query: 'Hello' });

/**
 * @param path of a GET request; by default a chat
 * @returns status (0: the client left after `timeoutMs`, or the connection failed), latency and time of the end in ms
 */
export function send(port, { path, timeoutMs = 5_000 } = {}) {
  const from = performance.now();
  return new Promise((resolve) => {
    const done = (status) => resolve({ status, at: performance.now(), ms: performance.now() - from });
    const method = path ? 'GET' : 'POST';
    const headers = path ? {} : { 'content-type': 'application/json', 'content-length': BODY.length };
    const options = { host: HOST, port, path: path ?? '/api/agent/chat', method, agent, headers, timeout: timeoutMs };
    const call = request(options, (response) => {
      response
        .resume()
        .on('end', () => done(response.statusCode))
        .on('error', () => done(0));
    });
    const left = setTimeout(() => call.destroy(), timeoutMs);
    call.on('error', () => done(0)).on('close', () => clearTimeout(left));
    call.end(path ? undefined : BODY);
  });
}

/** Sends chats at a constant rate, whatever the server does. @returns their results, when all have ended */
export async function offer(port, perSecond, seconds, options) {
  const answers = [];
  const start = performance.now();
  const total = Math.round(perSecond * seconds);
  while (answers.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * perSecond) + 1);
    while (answers.length < due) answers.push(send(port, options));
    await pause(2);
  }
  return Promise.all(answers);
}

export const quantile = (times, q) => times.toSorted((a, b) => a - b)[Math.floor(times.length * q)] ?? Number.NaN;
export const ms = (value) => `${Math.round(value)} ms`;
export const percent = (value) => `${Math.round(100 * value)} %`;

export function cleanUp() {
  agent.destroy();
  rmSync(folder, { recursive: true, force: true });
}
