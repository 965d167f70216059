import { CASSETTE_COMMAND } from './cassette-command.js';
import { CHAT_COMMAND } from './chat-command.js';
import type { Command } from './command.types.js';
import { DATABASE_COMMANDS } from './database-commands.js';
import { DOCTOR_COMMAND } from './doctor-command.js';
import { EVAL_COMMANDS } from './eval-commands.js';
import { KEY_COMMANDS } from './key-commands.js';
import { PROBE_COMMAND } from './probe-command.js';
import { CATALOGUE_COMMANDS } from './catalogue-commands.js';
import { RUN_COMMANDS } from './run-commands.js';
import { REPLAY_COMMAND } from './replay-command.js';
import { SERVER_COMMANDS } from './server-commands.js';
import { SESSION_COMMANDS } from './session-commands.js';

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...SERVER_COMMANDS,
  CHAT_COMMAND,
  ...RUN_COMMANDS,
  REPLAY_COMMAND,
  CASSETTE_COMMAND,
  ...SESSION_COMMANDS,
  ...CATALOGUE_COMMANDS,
  ...EVAL_COMMANDS,
  ...KEY_COMMANDS,
  DOCTOR_COMMAND,
  PROBE_COMMAND,
  ...DATABASE_COMMANDS,
];
