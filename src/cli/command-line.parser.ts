import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { nearNames } from '../kernel/text/index.js';
import { usageError } from './cli.error.js';
import { COMMANDS } from './command.registry.js';
import type { Command, OptionSpec } from './command.types.js';

/** Options of every command. */
export const COMMON_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  json: { help: 'Write JSON; errors are problem details on standard error' },
  verbose: { help: 'Write the log of the local server to standard error' },
  help: { help: 'Show the help of the command' },
};

/** Words that show a help. */
const HELP = ['help', '--help', '-h'];

export type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** A parsed command line. */
export type CommandLine =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  | { readonly kind: 'call'; readonly command: Command; readonly args: readonly string[]; readonly values: Values };

/** @throws CliError for an unknown command or option, and for missing or superfluous arguments */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const [first = 'help', second] = argv;
  if (HELP.includes(first)) return helpOf(argv.slice(1).filter((word) => !word.startsWith('-')));
  if (first === '--version' || first === '-v') return { kind: 'version' };
  const command = find(`${first} ${second}`) ?? find(first);
  if (command) return parseCall(command, argv.slice(command.name.split(' ').length));
  return parseGroup(first, second);
}

/** The first word of commands alone. @throws CliError except for its help */
function parseGroup(first: string, second: string | undefined): CommandLine {
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length === 0) throw noCommand(first);
  if (second !== undefined && HELP.includes(second)) return helpOf([first]);
  const names = group.map(({ name }) => name).join(', ');
  throw usageError(
    `${second === undefined ? 'A word is missing' : `There is no command "${first} ${second}"`}: ${names}.`,
  );
}

function noCommand(name: string): Error {
  const [near] = nearNames(
    name,
    COMMANDS.flatMap((command) => [command.name, ...command.name.split(' ', 1)]),
  );
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  return usageError(`There is no command "${name}".${hint} \`jackdaw help\` lists the commands.`);
}

function find(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name);
}

function helpOf(words: readonly string[]): CommandLine {
  const name = words.join(' ');
  const command = find(name);
  if (command) return { kind: 'help', text: commandHelp(command) };
  const group = COMMANDS.filter((one) => name === '' || one.name.startsWith(`${name} `));
  if (group.length === 0) throw noCommand(name);
  return { kind: 'help', text: overview(group) };
}

function parseCall(command: Command, words: readonly string[]): CommandLine {
  const specs = { ...command.options, ...COMMON_OPTIONS };
  const options: ParseArgsOptionsConfig = Object.fromEntries(
    Object.entries(specs).map(([name, { value, isMultiple = false }]) => [
      name,
      {
        type: value === undefined ? 'boolean' : 'string',
        multiple: isMultiple,
        ...(name === 'help' && { short: 'h' }),
      },
    ]),
  );
  const { values, positionals } = readWords(words, options, command);
  if (values['help'] === true) return { kind: 'help', text: commandHelp(command) };
  assertCount(command, positionals.length);
  return { kind: 'call', command, args: positionals, values };
}

function readWords(words: readonly string[], options: ParseArgsOptionsConfig, { name }: Command) {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (error) {
    const [sentence] = (error instanceof Error ? error.message : String(error)).split('. ');
    throw usageError(`${sentence}. See \`jackdaw ${name} --help\`.`);
  }
}

function assertCount(command: Command, count: number): void {
  const specs = command.arguments ?? [];
  const missing = specs.slice(count).find(({ isOptional }) => !isOptional);
  const remedy = `usage: ${usageOf(command)}`;
  if (missing) throw usageError(`The argument <${missing.name}> is missing; ${remedy}`);
  if (count > specs.length && !specs.at(-1)?.isRest) throw usageError(`There are too many arguments; ${remedy}`);
}

function usageOf({ name, arguments: specs = [], options = {} }: Command): string {
  const words = specs.map((spec) => {
    const word = `${spec.name}${spec.isRest ? '…' : ''}`;
    return spec.isOptional ? `[${word}]` : `<${word}>`;
  });
  return ['jackdaw', name, ...words, ...(Object.keys(options).length > 0 ? ['[options]'] : [])].join(' ');
}

function commandHelp(command: Command): string {
  const { summary, arguments: specs = [], options = {}, json } = command;
  const optionsWith = Object.entries({ ...options, ...COMMON_OPTIONS });
  return [
    `${summary}.`,
    '',
    `Usage: ${usageOf(command)}`,
    ...(specs.length > 0 ? ['', 'Arguments:', ...aligned(specs.map(({ name, help }) => [name, help]))] : []),
    '',
    'Options:',
    ...aligned(optionsWith.map(([name, { value, help }]) => [`--${name}${value ? ` <${value}>` : ''}`, help])),
    '',
    `JSON output: ${json}`,
    '',
  ].join('\n');
}

function overview(commands: readonly Command[]): string {
  return [
    'Usage: jackdaw <command> [arguments] [options]',
    '',
    'Commands:',
    ...aligned(commands.map((command) => [command.name, command.summary])),
    '',
    'JACKDAW_URL names a server (and JACKDAW_KEY a key for it). Without it commands use the database of this folder.',
    'The options of a command: jackdaw <command> --help. The version: jackdaw --version.',
    '',
  ].join('\n');
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, help]) => `  ${name.padEnd(width)}  ${help}`);
}
