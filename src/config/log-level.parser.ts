export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The level of the log, and of the contexts that have one of their own. */
export interface LogRules {
  readonly level: LogLevel;
  readonly contexts: Readonly<Record<string, LogLevel>>;
}

const RULE = /^(?:([\w.:-]+)=)?([a-z]+)$/;

/** Parses `info,RunExecutor=debug,Http=warn`; the level itself is `info` if it is left out. @returns undefined for an invalid text */
export function parseLogRules(text: string): LogRules | undefined {
  const contexts: Record<string, LogLevel> = {};
  let level: LogLevel | undefined;
  for (const part of text.split(',')) {
    const [, context, name] = RULE.exec(part.trim()) ?? [];
    const found = LOG_LEVELS.find((one) => one === name);
    const isTwice = context === undefined ? level !== undefined : Object.hasOwn(contexts, context);
    if (!found || isTwice) return undefined;
    if (context === undefined) level = found;
    else contexts[context] = found;
  }
  return { level: level ?? 'info', contexts };
}
