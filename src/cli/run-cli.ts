import { keepProcess, VERSION } from '../kernel/index.js';
import { CliError, EXIT } from './cli.error.js';
import { parseCommandLine, type Values } from './command-line.parser.js';
import type { Call, Command } from './command.types.js';
import type { Connection } from './connection.js';
import { Interrupt } from './interrupt.js';
import { Terminal } from './terminal.js';

/** Runs a command and sets the exit code of the process. @param argv words after the program */
export async function runCli(argv: readonly string[]): Promise<void> {
  const interrupt = new Interrupt();
  const isServer = argv[0] === 'serve';
  // A server drains at a signal.
  if (!isServer) interrupt.listen();
  // Also for a command line that cannot be parsed.
  const isJson = argv.includes('--json');
  const terminal = new Terminal(interrupt, isJson);
  try {
    process.exitCode = await runLine(argv, interrupt, terminal);
  } catch (error) {
    process.exitCode = interrupt.isUnread ? EXIT.ok : interrupt.signal.aborted ? EXIT.interrupted : exitCodeOf(error);
    if (!interrupt.signal.aborted)
      process.stderr.write(isJson ? `${JSON.stringify(toProblem(error))}\n` : `${messageOf(error)}\n`);
  }
  // An idle connection or a timer of a library must not delay the end.
  if (!isServer || process.exitCode !== EXIT.ok) flushAndExit();
}

async function runLine(argv: readonly string[], interrupt: Interrupt, terminal: Terminal): Promise<number> {
  const line = parseCommandLine(argv);
  switch (line.kind) {
    case 'help':
      (argv.length === 0 ? process.stderr : process.stdout).write(line.text);
      return argv.length === 0 ? EXIT.usage : EXIT.ok;
    case 'version':
      terminal.line(VERSION);
      return EXIT.ok;
    case 'call':
      return runCommand(line.command, new CommandCall(line.args, line.values, interrupt, terminal));
  }
}

async function runCommand({ run }: Command, call: CommandCall): Promise<number> {
  // Connections of databases do not keep the process alive.
  const release = keepProcess();
  try {
    return (await run(call)) ?? EXIT.ok;
  } finally {
    call.terminal.endLine();
    await call.close();
    release();
  }
}

class CommandCall implements Call {
  private connection: Connection | undefined;

  constructor(
    readonly args: readonly string[],
    private readonly values: Values,
    readonly interrupt: Interrupt,
    readonly terminal: Terminal,
  ) {}

  get isJson(): boolean {
    return this.flag('json');
  }

  text(name: string): string | undefined {
    const value = this.values[name];
    return typeof value === 'string' ? value : undefined;
  }

  texts(name: string): readonly string[] {
    const value = this.values[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  flag(name: string): boolean {
    return this.values[name] === true;
  }

  async connect(purpose: 'read' | 'execute' = 'read'): Promise<Connection> {
    const options = { executesRuns: purpose === 'execute', isVerbose: this.flag('verbose') };
    const { connect } = await import('./connection.js');
    return (this.connection ??= await connect(options));
  }

  async close(): Promise<void> {
    await this.connection?.close();
  }
}

function exitCodeOf(error: unknown): number {
  return error instanceof CliError ? error.exitCode : EXIT.failed;
}

/** The message of an expected error, with its remedy; the stack of any other. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, message } = error as Error & { readonly code?: unknown };
  if (code === 'UNAUTHENTICATED') return `${message} The command line sends the key of JACKDAW_KEY.`;
  if (code === 'CONNECTION_FAILED' && error.cause instanceof Error) return `${message} Cause: ${error.cause.message}.`;
  if (typeof code === 'string') return message;
  return error.stack ?? message;
}

/** Problem details as of the API; `status` is 500 for an error that no server has answered. */
function toProblem(error: unknown): object {
  const { code = 'INTERNAL', problem } = error as { readonly code?: unknown; readonly problem?: object };
  if (problem !== undefined) return problem;
  const status = error instanceof CliError && error.exitCode === EXIT.usage ? 400 : 500;
  return { type: 'about:blank', title: String(code), status, detail: messageOf(error), code: String(code) };
}

function flushAndExit(): void {
  const streams = [process.stdout, process.stderr];
  void Promise.all(streams.map((stream) => new Promise<void>((resolve) => stream.write('', () => resolve())))).then(
    () => process.exit(),
  );
}
